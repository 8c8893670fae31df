import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { LeaseUnavailableError } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import { failureOf } from './failure-of.js'
import type { LeaseFolder } from './lease-folder.js'
import { identityOf, LogFile } from './log-file.js'
import {
  ALWAYS,
  changeLine,
  headerLine,
  type LogFacts,
  type LogHeader,
  type RegisterReference,
  readHeader,
  type SealLine,
  sealLine,
} from './log-lines.js'
import { type RegisterKind, RegisterTable, type Taken } from './register-table.js'

/** By how much a log must grow before it is rewritten, in bytes. */
const LEAST_GROWTH = 1024 * 1024

/** Windows does not replace files that a process has open: there a log grows until the machine restarts. */
const CAN_REPLACE = process.platform !== 'win32'

/** How many times a writer tries to end a log to which others still write. */
const SEAL_ATTEMPTS = 20

export interface RegisterLogOptions<V, C> {
  readonly folder: LeaseFolder
  /** The name of its file in the folder. */
  readonly file: string
  /** Whether a change is on the disk when it is in force. If not, a power failure undoes the last changes. */
  readonly durable: boolean
  readonly kind: RegisterKind<V, C>
  /**
   * Called before a new log is created: returns its first facts. Other processes may create the log at the same time, and
   * the facts of one of them are in force.
   */
  readonly begin?: () => LogFacts
  /** For tests: by how much the log must grow before it is rewritten, in bytes. A mebibyte unless given. */
  readonly growth?: number
}

interface Opened extends LogHeader {
  readonly file: LogFile
}

export interface WriteOutcome {
  /** For each change, whether it is in force. */
  readonly accepted: readonly boolean[]
  /** Set if it is unknown whether the other changes will be in force. */
  readonly failure?: unknown
}

/**
 * Registers that several processes and threads read and change at the same time, without a lock. A thread can be
 * terminated between any two steps of its JavaScript. It then runs no `finally`, and would keep a lock for as long as its
 * process lives. Without a lock, the others never wait for it.
 *
 * All changes are lines of one log. A change says up to which position its writer had read the log. It is in force if the
 * register was not changed between that position and the line. Otherwise the line has no effect, and the writer decides
 * again. All readers compute the values from the same lines by the same rule. The change comes into force at the system
 * call that appends the line.
 */
export class RegisterLog<V, C> {
  readonly #options: RegisterLogOptions<V, C>
  readonly #path: string
  readonly #writer = randomBytes(9).toString('base64url')
  #table: RegisterTable<V, C>
  #opened: Opened | undefined
  #written = 0
  #isClosed = false

  /** Throws a typed error if the file is not a log, or if this user may not use it. */
  constructor(options: RegisterLogOptions<V, C>) {
    this.#options = options
    this.#path = options.folder.file(options.file)
    this.#table = new RegisterTable(options.kind)
    this.refresh()
  }

  /** The facts in the header of the log. */
  get facts(): LogFacts {
    return this.#opened?.facts ?? {}
  }

  /** The value at the last {@link refresh} or {@link attempt}; callers must not change it. */
  get(key: string): V | undefined {
    return this.#table.get(key)
  }

  /** The keys at the last {@link refresh} or {@link attempt}. */
  keys(): Iterable<string> {
    return this.#table.keys()
  }

  /**
   * Reads all changes up to now. Starts again if the file was deleted: a process that continued in the deleted file would
   * be alone in it.
   */
  refresh(): void {
    this.#try(() => {
      for (;;) {
        const { file } = this.#use()
        const isCurrent = isAt(this.#path, file)
        this.#readOn(file)
        if (this.#table.seal !== undefined) this.#succeed(this.#table.seal)
        else if (isCurrent) return
        else this.#forget()
      }
    })
  }

  /**
   * Writes changes that were decided on the current values, at most one for each key. Equal changes of several keys share
   * a line, so that each of them takes a few bytes, and readers parse the change once. If it throws, it is unknown whether
   * the changes are in force.
   */
  attempt(changes: readonly { readonly key: string; readonly change: C }[]): WriteOutcome {
    return this.#try(() => {
      const { file, begun } = this.#use()
      const id = this.#newId()
      const before = file.position
      let failure: unknown
      try {
        file.append(this.#linesOf(changes, id, before))
      } catch (error) {
        failure = failureOf(error, this.#path)
      }
      const inForce = new Set<string>()
      this.#readOn(file, (taken) => {
        if (taken.id === id) for (const key of taken.keys) inForce.add(key)
      })
      const accepted = changes.map(({ key }) => inForce.has(key))
      if (failure !== undefined) return { accepted, failure }
      const growth = Math.max(this.#options.growth ?? LEAST_GROWTH, 2 * begun)
      if (CAN_REPLACE && Math.floor(before / growth) < Math.floor(file.position / growth)) this.#rewrite()
      return { accepted }
    })
  }

  /** Later calls throw a `LeaseUnavailableError`. */
  close(): void {
    this.#isClosed = true
    this.#forget()
  }

  #linesOf(changes: readonly { readonly key: string; readonly change: C }[], id: string, base: number): string[] {
    const shared = new Map<string, { readonly change: C; readonly registers: RegisterReference[] }>()
    for (const { key, change } of changes) {
      const text = JSON.stringify(change)
      const line = shared.get(text)
      if (line === undefined) shared.set(text, { change, registers: [this.#table.referenceTo(key)] })
      else line.registers.push(this.#table.referenceTo(key))
    }
    return [...shared].map(([text, line]) => changeLine({ id, base, ...line }, text))
  }

  /** A new id for each call, unique across processes and threads. */
  #newId(): string {
    this.#written += 1
    return `${this.#writer}${this.#written.toString(36)}`
  }

  #use(): Opened {
    if (this.#isClosed) throw new LeaseUnavailableError(`${this.#path} is closed`, { store: 'local' })
    this.#opened ??= this.#open()
    return this.#opened
  }

  #open(): Opened {
    for (;;) {
      this.#options.folder.make()
      const file = LogFile.open(this.#path)
      try {
        if (file !== undefined) {
          this.#options.folder.checkReplaceable(this.#path)
          return { file, ...readHeader(file, this.#path) }
        }
      } catch (error) {
        file?.close()
        throw error
      }
      this.#create()
    }
  }

  /** Creates the log with its header in one step, unless another process has created it. */
  #create(): void {
    const { folder, file, durable, begin } = this.#options
    const draft = `${file}-0-${this.#newId()}`
    const path = folder.file(draft)
    const facts = begin?.() ?? {}
    const log = LogFile.create(path, folder.fileMode)
    try {
      folder.share([path])
      log.append([headerLine({ generation: 1, begun: 0, facts })])
      if (durable) log.flush()
      linkSync(path, this.#path)
      if (durable) folder.flush()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Another process was faster, and may have removed the draft.
      if (code !== 'EEXIST' && code !== 'ENOENT') throw error
    } finally {
      log.close()
      rmSync(path, { force: true })
    }
  }

  /** Reads the new lines. After a failure, the log is read again from the beginning. */
  #readOn(file: LogFile, onTaken?: (taken: Taken<C>) => void): void {
    const before = file.position
    try {
      file.readOn((line, start) => {
        const taken = this.#table.take(line, start)
        if (taken !== undefined) onTaken?.(taken)
      })
      // Changes of other processes are flushed too: no decision may rest on a change that a power failure can undo.
      if (this.#options.durable && file.position > before) file.flush()
    } catch (error) {
      this.#forget()
      throw error
    }
  }

  #forget(): void {
    this.#opened?.file.close()
    this.#opened = undefined
    this.#table = new RegisterTable(this.#options.kind)
  }

  /**
   * Writes the current values to another file, and ends the log in favour of that file. A failure leaves the log as it
   * is, only longer than necessary. All processes then read the other file, so it has to be at most half as long.
   */
  #rewrite(): void {
    const opened = this.#use()
    const { file, generation, facts } = opened
    const { folder } = this.#options
    const draft = `${this.#options.file}-${generation + 1}-${this.#newId()}`
    const extract = this.#table.extract(facts)
    const begun = extract.lines.reduce((size, line) => size + line.length, 0)
    if (2 * begun > file.position) {
      this.#opened = { ...opened, begun }
      return
    }
    let successor: LogFile | undefined
    let isNamed = false
    try {
      // The folder may have got the sticky bit since the log was opened.
      folder.checkReplaceable(this.#path)
      successor = LogFile.create(folder.file(draft), folder.fileMode)
      folder.share([folder.file(draft)])
      if (!folder.isForAll) successor.belongTo(file)
      const header = headerLine({ generation: generation + 1, begun, facts: extract.facts })
      successor.append([header, ...extract.lines])
      // From here on a line of the log may name the draft, even if writing it fails.
      isNamed = true
      this.#seal(file, successor, draft, extract.retired)
      isNamed = this.#table.seal?.next === draft
      if (isNamed) this.refresh()
      if (isNamed) this.#removeDrafts(generation + 1)
    } catch {
      // A later writer tries again, when the log has grown by the same size again.
    } finally {
      successor?.close()
      if (!isNamed) rmSync(folder.file(draft), { force: true })
    }
  }

  /** Ends the log in favour of the draft, once the draft contains all changes that were made meanwhile. */
  #seal(file: LogFile, successor: LogFile, draft: string, retired: Set<string>): void {
    const { folder, durable } = this.#options
    for (let attempt = 0; attempt < SEAL_ATTEMPTS && this.#table.seal === undefined; attempt += 1) {
      if (durable) successor.flush()
      if (durable) folder.flush()
      const missed: Taken<C>[] = []
      file.append([sealLine({ base: file.position, next: draft })])
      this.#readOn(file, (taken) => missed.push(taken))
      // A retired register that has changed since is added as a whole.
      const returned = new Set(missed.flatMap(({ keys }) => keys.filter((key) => retired.delete(key))))
      const lines = missed.map(({ id, keys, change }) => {
        return changeLine({ id, base: ALWAYS, registers: keys.filter((key) => !returned.has(key)), change })
      })
      for (const key of returned) lines.push(...this.#table.line(key))
      if (this.#table.seal === undefined && lines.length > 0) successor.append(lines)
    }
  }

  /**
   * Continues in the file that the end of the log names. Any process that reads the end may rename that file to the log,
   * in case the writer of the end was interrupted. The name is used once: after the first rename there is no such file, so
   * a late process cannot put back a file that was replaced meanwhile.
   */
  #succeed({ next }: SealLine): void {
    const { folder, durable } = this.#options
    const { file } = this.#use()
    // Another user may have written it: it must not name a file elsewhere.
    const isDraft = next.startsWith(`${this.#options.file}-`) && basename(next) === next
    if (isDraft && isAt(this.#path, file)) {
      renameUnlessGone(folder.file(next), this.#path)
      if (durable) folder.flush()
    }
    if (isAt(this.#path, file)) {
      throw new LeaseUnavailableError(
        `${this.#path} ends with a reference to ${shownText(next)}, and that file is missing: stop the processes that use the ` +
          'folder, delete the former, and start them again',
        { store: 'local' },
      )
    }
    this.#forget()
  }

  /** Removes the files of interrupted threads: no log can name them any more. */
  #removeDrafts(generation: number): void {
    const { folder, file } = this.#options
    for (const name of readdirSync(folder.path)) {
      const number = name.startsWith(`${file}-`) ? /^\d+(?=-)/.exec(name.slice(file.length + 1)) : null
      if (number !== null && Number(number[0]) <= generation) rmSync(folder.file(name), { force: true })
    }
  }

  #try<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw failureOf(error, this.#path)
    }
  }
}

/** Whether the file is still at the path, and not shorter than the part that was read. */
function isAt(path: string, file: LogFile): boolean {
  const place = statSync(path, { throwIfNoEntry: false })
  return place !== undefined && identityOf(place) === file.identity && place.size >= file.position
}

function renameUnlessGone(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
