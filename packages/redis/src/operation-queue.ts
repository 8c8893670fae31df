import { AbortListeners, type Clock } from '@leasehold/core'
import type { Connection, ScriptCall } from './client/connection.js'
import { hashTag } from './client/key-slot.js'
import { closedError, type Link } from './client/link.js'
import type { Lane } from './client/traffic.js'
import { leaseScript, leaseScriptSha } from './script/lease-script.js'

/** How many operations one call of the script does: while it runs, the server serves nobody else. */
const LARGEST_CALL = 32

/** After how many milliseconds without any answer a server is given up, when somebody's time limit is over. */
const PATIENCE = 500

/**
 * While a slot of a cluster moves, some of its keys may be here and others there: each can be had alone. ioredis asks nodes
 * at random then, until it has enough of it.
 */
const SCATTERED = /TRYAGAIN|Too many Cluster redirections/

/** What every call tells the script. */
export interface CallContext {
  /** For how long a record is kept after its lease has ended, in milliseconds. */
  readonly recordLife: number
  /** The channel on which this store is told of turns. */
  readonly channel: string
  readonly clustered: boolean
}

interface Entry {
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
  readonly lane: Lane
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

  constructor(link: Link, clock: Clock, { recordLife, channel, clustered }: CallContext) {
    this.#link = link
    this.#clock = clock
    this.#clustered = clustered
    this.#prelude = [String(recordLife), channel, clustered ? '1' : '0']
  }

  /** Rejects with the signal's reason when it aborts, and with what the server or the client said. */
  run(key: string, words: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closedError())
      if (signal.aborted) return reject(signal.reason)
      const entry: Entry = { key, words, resolve, reject, unlisten: () => {}, isSettled: false, call: undefined }
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
    for (const entries of this.#clustered ? byTag(pending) : [pending]) {
      for (let from = 0; from < entries.length; from += LARGEST_CALL) {
        this.#send(from === 0 && entries.length <= LARGEST_CALL ? entries : entries.slice(from, from + LARGEST_CALL))
      }
    }
  }

  #send(entries: readonly Entry[], command: 'EVAL' | 'EVALSHA' = 'EVALSHA'): void {
    const { current } = this.#link
    if (current !== undefined) {
      void this.#call(current, command, entries)
      return
    }
    this.#link.connect().then(
      (connection) => this.#call(connection, command, entries),
      (error: unknown) => rejectAll(entries, error),
    )
  }

  async #call(connection: Connection, command: 'EVAL' | 'EVALSHA', sent: readonly Entry[]): Promise<void> {
    const [first] = sent
    if (first === undefined) return
    const lane = connection.traffic.begin(connection.nodeOf(first.key), this.#clock.now())
    const call: Call = { connection, lane, given: new AbortController(), waiting: sent.length }
    for (const entry of sent) entry.call = call
    this.#underWay += 1
    let entries = sent
    try {
      const preparing = connection.prepare(first.key)
      if (preparing !== undefined) await preparing
      // Those whose time limit was over meanwhile are not sent.
      entries = sent.filter(({ isSettled }) => !isSettled)
      call.waiting = entries.length
      const answers =
        entries.length === 0 ? [] : await connection.run(this.#scriptCall(command, entries), call.given.signal)
      this.#ended(call)
      entries.forEach((entry, place) => {
        settle(entry, () => answer(entry, (answers as readonly string[][])[place]))
      })
    } catch (error) {
      this.#ended(call)
      this.#onFailure(error, command, call, entries)
    }
  }

  #scriptCall(command: 'EVAL' | 'EVALSHA', entries: readonly Entry[]): ScriptCall {
    const keys: string[] = []
    const args = [...this.#prelude]
    for (const { key, words } of entries) {
      keys.push(key)
      args.push(String(words.length), ...words)
    }
    return { command, script: command === 'EVAL' ? leaseScript : leaseScriptSha, keys, args }
  }

  #onFailure(error: unknown, command: 'EVAL' | 'EVALSHA', { connection }: Call, entries: readonly Entry[]): void {
    const said = error instanceof Error ? error.message : ''
    if (command === 'EVALSHA' && said.startsWith('NOSCRIPT')) {
      this.#send(entries, 'EVAL')
    } else if (entries.length > 1 && SCATTERED.test(said)) {
      for (const entry of entries) this.#send([entry])
    } else {
      // A master that has become a replica: the client finds the new one when it connects.
      if (said.startsWith('READONLY')) this.#link.drop(connection)
      rejectAll(entries, error)
    }
  }

  #ended({ connection, lane }: Call): void {
    this.#underWay -= 1
    connection.traffic.end(lane, this.#clock.now())
  }

  /** The time limit of an operation is over. A server from which nothing comes back is not worth to be waited for. */
  #onAbort(entry: Entry, reason: unknown): void {
    const { call } = entry
    settle(entry, () => entry.reject(reason))
    if (call === undefined) {
      if (this.#link.openingFor >= PATIENCE) this.#link.giveUpOpening()
      return
    }
    call.waiting -= 1
    if (call.waiting === 0) call.given.abort()
    if (this.#clock.now() - call.lane.quietSince < PATIENCE) return
    // In a cluster the other nodes may well answer: what is under way to them goes on.
    if (!this.#clustered) this.#link.drop(call.connection)
    else if (this.#link.openingFor >= PATIENCE) this.#link.giveUpOpening()
    else this.#link.replace(call.connection)
  }
}

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
    const tag = hashTag(entry.key)
    const group = groups.get(tag)
    if (group === undefined) groups.set(tag, [entry])
    else group.push(entry)
  }
  return groups.values()
}
