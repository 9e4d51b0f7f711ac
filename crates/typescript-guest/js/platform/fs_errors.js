// The errors of file operations, with Node's messages.

/** By code: the system's number and what it means. */
export const FAILURES = new Map(
  Object.entries({
    E2BIG: [7, "argument list too long"],
    EACCES: [13, "permission denied"],
    EAGAIN: [11, "resource temporarily unavailable"],
    EBADF: [9, "bad file descriptor"],
    EBUSY: [16, "resource busy or locked"],
    EDQUOT: [122, "disk quota exceeded"],
    EEXIST: [17, "file already exists"],
    EFAULT: [14, "bad address in system call argument"],
    EFBIG: [27, "file too large"],
    EINTR: [4, "interrupted system call"],
    EINVAL: [22, "invalid argument"],
    EIO: [5, "i/o error"],
    EISDIR: [21, "illegal operation on a directory"],
    ELOOP: [40, "too many symbolic links encountered"],
    EMFILE: [24, "too many open files"],
    EMLINK: [31, "too many links"],
    ENAMETOOLONG: [36, "name too long"],
    ENFILE: [23, "file table overflow"],
    ENODATA: [61, "no data available"],
    ENODEV: [19, "no such device"],
    ENOENT: [2, "no such file or directory"],
    ENOMEM: [12, "not enough memory"],
    ENOSPC: [28, "no space left on device"],
    ENOSYS: [38, "function not implemented"],
    ENOTDIR: [20, "not a directory"],
    ENOTEMPTY: [39, "directory not empty"],
    ENOTSUP: [95, "operation not supported on socket"],
    ENOTTY: [25, "inappropriate ioctl for device"],
    ENXIO: [6, "no such device or address"],
    EOVERFLOW: [75, "value too large for defined data type"],
    EPERM: [1, "operation not permitted"],
    EPIPE: [32, "broken pipe"],
    EROFS: [30, "read-only file system"],
    ESPIPE: [29, "invalid seek"],
    ETXTBSY: [26, "text file is busy"],
    EXDEV: [18, "cross-device link not permitted"],
  }),
);

/**
 * A failure of the system: `ENOENT: no such file or directory, open 'x'`.
 * @param {string} syscall the word for the operation
 * @param {string} [path] what it was done to
 * @param {string} [dest] the second path of operations that have two
 */
export function systemError(code, syscall, path = undefined, dest = undefined) {
  const [number, meaning] = FAILURES.get(code) ?? [0, "unknown error"];
  let message = `${code}: ${meaning}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (dest !== undefined) message += ` -> '${dest}'`;
  const error = Object.assign(new Error(message), { errno: -number, code, syscall });
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
}

/** Runs a native operation; its failure gets the words for `syscall` and the paths. */
export function attempt(operation, syscall, path = undefined, dest = undefined) {
  try {
    return operation();
  } catch (error) {
    throw typeof error?.code === "string" ? systemError(error.code, syscall, path, dest) : error;
  }
}

/** The error of checks in `rm` and `cp`. */
export class SystemError extends Error {
  #code;

  /**
   * @param {string} code such as "ERR_FS_EISDIR"
   * @param {string} meaning what the code means
   * @param {{code: string, message: string, path: string, syscall: string, errno: number}} info
   */
  constructor(code, meaning, info) {
    super(`${meaning}: ${info.syscall} returned ${info.code} (${info.message}) ${info.path}`);
    this.#code = code;
    Object.defineProperty(this, "name", {
      value: "SystemError",
      enumerable: false,
      writable: true,
      configurable: true,
    });
    Object.assign(this, { code, info, errno: info.errno, syscall: info.syscall, path: info.path });
  }

  toString() {
    return `${this.name} [${this.#code}]: ${this.message}`;
  }
}

/** Makes a `SystemError`; `code` is also the key of the system's number. */
export function systemFailure(errorCode, meaning, code, syscall, message, path) {
  const [errno] = FAILURES.get(code);
  return new SystemError(errorCode, meaning, { message, path, syscall, errno, code });
}
