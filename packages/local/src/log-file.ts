import { closeSync, constants, fchownSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

const CHUNK = 64 * 1024
const NEWLINE = 0x0a

/**
 * A file of lines that only grows. The system appends each write as a whole, in one order for all processes and threads,
 * so a line is complete or absent, whenever its writer is interrupted. Only a full disk or SIGKILL can cut a line short.
 * The next write begins with a line break, which ends that line, and readers ignore it.
 */
export class LogFile {
  /** Differs between two files at one path, see {@link identityOf}. */
  readonly identity: string
  readonly #file: number
  #buffer = Buffer.allocUnsafe(CHUNK)
  #position = 0

  private constructor(file: number) {
    this.#file = file
    this.identity = identityOf(fstatSync(file))
  }

  /** The file at the path; `undefined` if there is none. */
  static open(path: string): LogFile | undefined {
    try {
      return new LogFile(openSync(path, constants.O_RDWR | constants.O_APPEND))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Creates an empty file; throws if there is a file at the path. */
  static create(path: string, mode: number): LogFile {
    const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants
    return new LogFile(openSync(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode))
  }

  /**
   * Gives the file the group of another one, and its owner where this process may, so that its users may use this one too.
   * Throws if this user may not.
   */
  belongTo(other: LogFile): void {
    const { uid, gid } = fstatSync(other.#file)
    const own = fstatSync(this.#file)
    if (own.uid === uid && own.gid === gid) return
    fchownSync(this.#file, process.geteuid?.() === 0 ? uid : own.uid, gid)
  }

  /** The end of the part that was read, in bytes. */
  get position(): number {
    return this.#position
  }

  /** The first bytes, as text. */
  head(length: number): string {
    const buffer = Buffer.alloc(length)
    return buffer.toString('utf8', 0, readSync(this.#file, buffer, 0, length, 0))
  }

  /** Appends the lines in one write. If it throws, none, some or all of them may have been written. */
  append(lines: readonly string[]): void {
    const data = Buffer.from(`\n${lines.join('\n')}\n`)
    const written = writeSync(this.#file, data)
    if (written === data.length) return
    throw Object.assign(new Error(`only ${written} of ${data.length} bytes could be written: the disk is full`), {
      code: 'ENOSPC',
    })
  }

  /** Calls `onLine` with each complete line after the position, and the offset of its start. */
  readOn(onLine: (line: string, start: number) => void): void {
    for (;;) {
      const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, this.#position)
      const end = length === 0 ? -1 : this.#buffer.lastIndexOf(NEWLINE, length - 1)
      const isAll = length < this.#buffer.length
      if (end === -1) {
        if (isAll) return
        this.#buffer = Buffer.allocUnsafe(this.#buffer.length * 2)
        continue
      }
      const offset = this.#position
      this.#position += end + 1
      for (let start = 0; start <= end; ) {
        const next = this.#buffer.indexOf(NEWLINE, start)
        if (next > start) onLine(this.#buffer.toString('utf8', start, next), offset + start)
        start = next + 1
      }
      if (isAll) return
    }
  }

  /** Returns once all appended lines are on the disk, also those of other processes. */
  flush(): void {
    fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}

export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}
