// Stand-in.
export const builtin = () => undefined;
