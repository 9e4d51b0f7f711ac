// Host names with letters beyond ASCII: decodes labels that begin with `xn--`.

const BASE = 36;
const LEAST = 1;
const MOST = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 128;

/** The threshold moves with what was decoded before, so that short numbers stay short. */
function adapt(delta, count, isFirst) {
  let rest = isFirst ? Math.floor(delta / DAMP) : delta >> 1;
  rest += Math.floor(rest / count);
  let bias = 0;
  for (; rest > ((BASE - LEAST) * MOST) >> 1; bias += BASE) rest = Math.floor(rest / (BASE - LEAST));
  return bias + Math.floor(((BASE - LEAST + 1) * rest) / (rest + SKEW));
}

function digitOf(char) {
  const digit = Number.parseInt(char, BASE);
  if (Number.isNaN(digit)) throw new RangeError("Invalid input");
  return digit < 10 ? digit + 26 : digit - 10;
}

/** Decodes the part of a label after `xn--`. */
function decodeLabel(label) {
  const dash = label.lastIndexOf("-");
  const output = dash > 0 ? [...label.slice(0, dash)] : [];
  let code = FIRST_CODE;
  let bias = FIRST_BIAS;
  let position = 0;
  for (let index = dash > 0 ? dash + 1 : 0; index < label.length;) {
    const before = position;
    let weight = 1;
    for (let step = BASE; ; step += BASE) {
      const digit = digitOf(label.charAt(index++));
      position += digit * weight;
      const threshold = Math.min(Math.max(step - bias, LEAST), MOST);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const count = output.length + 1;
    bias = adapt(position - before, count, before === 0);
    code += Math.floor(position / count);
    position %= count;
    output.splice(position++, 0, String.fromCodePoint(code));
  }
  return output.join("");
}

/** Decodes the labels of a host name; a label that is malformed stays as it is. */
export function domainToUnicode(domain) {
  const labels = domain.split(".").map((label) => {
    if (!label.startsWith("xn--")) return label;
    try {
      return decodeLabel(label.slice("xn--".length));
    } catch {
      return label;
    }
  });
  return labels.join(".");
}
