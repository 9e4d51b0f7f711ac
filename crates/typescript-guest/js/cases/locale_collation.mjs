// Reads from Node in which order characters stand.

export function collationData() {
  return {};
}
