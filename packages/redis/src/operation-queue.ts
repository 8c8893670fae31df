import { AbortListeners, type Clock } from '@leasehold/core'
import type { Connection } from './client/connection.js'
import { closedError, type Link, PATIENCE } from './client/link.js'
import { leaseScript, leaseScriptSha } from './script/lease-script.js'

/** How many operations one call of the script does: so few that client and server work at the same time. */
const LARGEST_CALL = 32

/** How many of those that are done in bulk: while the script runs, some milliseconds, the server serves nobody else. */
const LARGEST_BULK = 512

/** What every call tells the script. */
export interface CallContext {
  /** For how long a record is kept after its lease has ended, in milliseconds. */
  readonly recordLife: number
  /** The channel on which this store is told of turns. */
  readonly channel: string
  readonly clustered: boolean
}

interface Entry {
  readonly isBulk: boolean
  readonly key: string
  readonly words: readonly string[]
  readonly resolve: (answer: readonly string[]) => void
  readonly reject: (error: unknown) => void
  unlisten: () => void
  isSettled: boolean
  /** The call that it is part of, once it was sent. */
  call: Call | undefined
}

interface Call {
  readonly connection: Connection
  readonly given: AbortController
  waiting: number
}

/**
 * Sends operations, each within its time limit: what is not sent by then never is. Those of one turn of the event loop, and
 * those that come while others are under way, share a call of the script, in a cluster those of one slot.
 */
export class OperationQueue {
  readonly #link: Link
  readonly #clock: Clock
  readonly #clustered: boolean
  readonly #prelude: readonly string[]
  readonly #aborts = new AbortListeners()
  #pending: Entry[] = []
  #isClosed = false
  #underWay = 0
  /** Since when nothing came back, while calls are under way. */
  #quietSince = 0

  constructor(link: Link, clock: Clock, { recordLife, channel, clustered }: CallContext) {
    this.#link = link
    this.#clock = clock
    this.#clustered = clustered
    this.#prelude = [String(recordLife), channel, clustered ? '1' : '0']
  }

  /**
   * Rejects with the signal's reason when it aborts, and with what the server or the client said. What is done in bulk is to
   * take few calls, rather than little time.
   */
  run(key: string, words: readonly string[], signal: AbortSignal, isBulk = false): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closedError())
      if (signal.aborted) return reject(signal.reason)
      const entry: Entry = { isBulk, key, words, resolve, reject, unlisten: nothing, isSettled: false, call: undefined }
      entry.unlisten = this.#aborts.add(signal, () => this.#onAbort(entry, signal.reason))
      this.#pending.push(entry)
      if (this.#pending.length === 1) this.#flushSoon()
    })
  }

  /** Rejects what is under way and all that comes. */
  close(): void {
    this.#isClosed = true
    for (const entry of this.#pending.splice(0)) settle(entry, () => entry.reject(closedError()))
  }

  /** At once where nothing is under way; else with all that comes in this turn. */
  #flushSoon(): void {
    if (this.#underWay === 0) queueMicrotask(() => this.#flush())
    else setImmediate(() => this.#flush())
  }

  #flush(): void {
    const pending = this.#pending
    this.#pending = []
    const bulk = pending.filter(({ isBulk }) => isBulk)
    this.#sendInCalls(bulk.length === 0 ? pending : pending.filter(({ isBulk }) => !isBulk), LARGEST_CALL)
    this.#sendInCalls(bulk, LARGEST_BULK)
  }

  #sendInCalls(pending: readonly Entry[], largest: number): void {
    for (const entries of this.#clustered ? byTag(pending) : [pending]) {
      for (let from = 0; from < entries.length; from += largest) this.#send(entries.slice(from, from + largest))
    }
  }

  #send(entries: readonly Entry[]): void {
    const { current } = this.#link
    if (current !== undefined) {
      void this.#call(current, 'EVALSHA', entries)
      return
    }
    this.#link.connect().then(
      (connection) => this.#call(connection, 'EVALSHA', entries),
      (error: unknown) => rejectAll(entries, error),
    )
  }

  async #call(connection: Connection, command: 'EVAL' | 'EVALSHA', sent: readonly Entry[]): Promise<void> {
    const entries = sent.filter(({ isSettled }) => !isSettled)
    if (entries.length === 0) return
    const script = command === 'EVAL' ? leaseScript : leaseScriptSha
    const given = new AbortController()
    const call: Call = { connection, given, waiting: entries.length }
    const keys: string[] = []
    const args = [...this.#prelude]
    for (const entry of entries) {
      entry.call = call
      keys.push(entry.key)
      args.push(String(entry.words.length), ...entry.words)
    }
    if (this.#underWay === 0) this.#quietSince = this.#clock.now()
    this.#underWay += 1
    try {
      const answers = (await connection.run({ command, script, keys, args }, given.signal)) as readonly string[][]
      this.#ended()
      entries.forEach((entry, place) => {
        settle(entry, () => answer(entry, answers[place]))
      })
    } catch (error) {
      this.#ended()
      const said = error instanceof Error ? error.message : ''
      if (command === 'EVALSHA' && said.startsWith('NOSCRIPT')) return await this.#call(connection, 'EVAL', entries)
      // A master that has become a replica: the client finds the new one when it connects.
      if (said.startsWith('READONLY')) this.#link.drop(connection)
      rejectAll(entries, error)
    }
  }

  #ended(): void {
    this.#underWay -= 1
    this.#quietSince = this.#clock.now()
  }

  /** The time limit of an operation is over. A connection on which nothing comes back is not worth to be waited for. */
  #onAbort(entry: Entry, reason: unknown): void {
    const { call } = entry
    settle(entry, () => entry.reject(reason))
    if (call === undefined) {
      if (this.#link.openingFor >= PATIENCE) this.#link.giveUpOpening()
      return
    }
    call.waiting -= 1
    if (call.waiting === 0) call.given.abort()
    if (this.#clock.now() - this.#quietSince >= PATIENCE) this.#link.drop(call.connection)
  }
}

function nothing(): void {}

function settle(entry: Entry, tell: () => void): void {
  if (entry.isSettled) return
  entry.isSettled = true
  entry.unlisten()
  tell()
}

function rejectAll(entries: readonly Entry[], error: unknown): void {
  for (const entry of entries) settle(entry, () => entry.reject(error))
}

/** One of several operations may fail alone. */
function answer(entry: Entry, words: readonly string[] | undefined): void {
  if (words === undefined) entry.reject(new Error('the script answered fewer operations than it was asked for'))
  else if (words[0] === 'failed') entry.reject(new Error(words[1]))
  else entry.resolve(words)
}

/** The script may only touch the keys of one slot: of one hash tag. */
function byTag(entries: readonly Entry[]): Iterable<readonly Entry[]> {
  const groups = new Map<string, Entry[]>()
  for (const entry of entries) {
    const tag = entry.key.slice(entry.key.indexOf('{'), entry.key.indexOf('}'))
    const group = groups.get(tag)
    if (group === undefined) groups.set(tag, [entry])
    else group.push(entry)
  }
  return groups.values()
}
