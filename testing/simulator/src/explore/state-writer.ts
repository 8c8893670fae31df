import type { Grant } from '@leasehold/core'
import type { Acquiring, EngineState, Held, Releasing } from '@leasehold/core/internal'
import type { Bounds } from './bounds.js'
import type { Grid } from './grid.js'
import type { Message } from './message.js'
import { isIdOf } from './observed-model.js'
import { ABSENT, CURRENT, MOST_BYTES, methods, NEVER, OTHERS, phases, ZERO } from './state-format.js'
import { type CasOperation, type Client, hasSeen, type Server, usesWritten, type World } from './world.js'

type Call = NonNullable<Acquiring['call']>

/**
 * Writes states as bytes. Two states that differ only in names have the same bytes: grant ids, tokens and versions get new
 * numbers in each state, times count from now, and clients are sorted. Two grant ids, tokens or versions get one number if
 * nothing can distinguish them.
 */
export class StateWriter {
  /** The bytes of the state that was written last. */
  readonly bytes = new Uint8Array(MOST_BYTES)
  /** The place of each of its clients among the written ones. */
  readonly placeOf: number[] = []
  readonly #bounds: Bounds
  readonly #grid: Grid
  readonly #isObserved: boolean
  readonly #blocks: Uint8Array[]
  readonly #lengths: number[]
  readonly #order: number[]
  /** The grant ids, tokens and versions of the state being written, in the order of their numbers. */
  readonly #ids: string[][]
  #tokens: number[] = []
  #versions: number[] = []
  #out: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(bounds: Bounds, grid: Grid) {
    this.#bounds = bounds
    this.#grid = grid
    this.#isObserved = bounds.store === 'observed'
    this.#blocks = Array.from({ length: bounds.clients }, () => new Uint8Array(MOST_BYTES / 4))
    this.#lengths = this.#blocks.map(() => 0)
    this.#order = this.#blocks.map((_, index) => index)
    this.#ids = this.#blocks.map(() => [])
  }

  /** Writes a state to `bytes`, and returns their number. */
  write(world: World): number {
    const { clients, server, steady } = world
    this.#number(world)
    for (let index = 0; index < clients.length; index += 1) {
      this.#out = this.#blocks[index] as Uint8Array
      this.#at = 0
      this.#ids[index] = []
      this.#writeClient(clients[index] as Client, index, server)
      this.#lengths[index] = this.#at
      this.#order[index] = index
    }
    this.#order.sort((one, other) => this.#compare(one, other))
    this.#out = this.bytes
    this.#at = 0
    for (let place = 0; place < clients.length; place += 1) {
      const index = this.#order[place] as number
      this.placeOf[index] = place
      const block = this.#blocks[index] as Uint8Array
      const length = this.#lengths[index] as number
      for (let from = 0; from < length; from += 1) this.bytes[this.#at + from] = block[from] as number
      this.#at += length
    }
    this.#writeServer(server)
    this.#byte(steady)
    return this.#at
  }

  /** Numbers the tokens and versions in the order of their size. */
  #number({ clients, server }: World): void {
    const tokens: number[] = []
    const versions: number[] = []
    if (server.largest !== 0) add(tokens, server.largest)
    if (this.#isObserved) {
      if (server.entry.token !== 0) add(tokens, server.entry.token)
      add(versions, server.entry.version)
    } else if (server.lease !== undefined) add(tokens, Number(server.lease.fencingToken))
    for (const client of clients) {
      const { engine, messages, cas } = client
      if ('grant' in engine) add(tokens, Number(engine.grant.fencingToken))
      for (const { token, version } of messages) {
        if (token !== 0) add(tokens, token)
        if (version !== 0) add(versions, version)
      }
      if (!this.#isObserved) continue
      if (usesWritten(client)) {
        add(tokens, cas.written.token)
        add(versions, cas.written.version)
      }
      if (this.#bounds.exact && cas.seenVersion !== 0) add(versions, cas.seenVersion)
      const { operation } = cas
      if (operation === undefined) continue
      if (operation.token !== 0) add(tokens, operation.token)
      if (operation.writes !== undefined) add(tokens, operation.writes.token)
    }
    this.#tokens = tokens
    this.#versions = versions
  }

  #compare(one: number, other: number): number {
    const [first, second] = [this.#blocks[one] as Uint8Array, this.#blocks[other] as Uint8Array]
    const length = Math.min(this.#lengths[one] as number, this.#lengths[other] as number)
    for (let at = 0; at < length; at += 1) {
      const difference = (first[at] as number) - (second[at] as number)
      if (difference !== 0) return difference
    }
    return (this.#lengths[one] as number) - (this.#lengths[other] as number)
  }

  #byte(value: number): void {
    this.#out[this.#at] = value
    this.#at += 1
  }

  #time(at: number | undefined): void {
    if (at === undefined) this.#byte(ABSENT)
    else if (at === Number.POSITIVE_INFINITY) this.#byte(NEVER)
    else this.#byte(Math.round(at / this.#grid.unit) + ZERO)
  }

  /** A grant id that a client has made. */
  #id(index: number, grantId: string): void {
    if (grantId === '') {
      this.#byte(0)
      return
    }
    if (!isIdOf(index, grantId)) {
      this.#byte(OTHERS)
      return
    }
    const ids = this.#ids[index] as string[]
    const known = ids.indexOf(grantId)
    if (known === -1) ids.push(grantId)
    this.#byte(known === -1 ? ids.length : known + 1)
  }

  #token(token: number): void {
    this.#byte(token === 0 ? 0 : rankOf(this.#tokens, token))
  }

  #version(version: number): void {
    this.#byte(version === 0 ? 0 : rankOf(this.#versions, version))
  }

  #writeClient(client: Client, index: number, server: Server): void {
    const { engine, waits, isOwed, leftover, messages, cas } = client
    // In jeopardy, the same happens as before it.
    const phase = engine.phase === 'jeopardy' && !this.#bounds.exact ? 'held' : engine.phase
    this.#byte(phases.indexOf(phase) | (waits << 3) | (isOwed ? 32 : 0))
    if (engine.phase === 'acquiring') this.#writeAcquiring(engine, index)
    else if (engine.phase === 'releasing') this.#writeReleasing(engine, index)
    else if (engine.phase !== 'idle') this.#writeHeld(engine, index)
    if (this.#bounds.cleanup) this.#id(index, leftover)
    if (this.#isObserved) this.#writeCas(client, index, server)
    this.#byte(messages.length)
    this.#writeMessages(messages, index, server, (message) => this.#isCurrent(engine, cas.operation, message))
    // Sorts clients that are alike but for what the server has of them.
    const holder = this.#isObserved ? server.entry.grantId : (server.lease?.grantId ?? '')
    const isKnown = isIdOf(index, holder) && (this.#ids[index] as string[]).includes(holder)
    const place = server.queue.findIndex(({ grantId }) => (this.#ids[index] as string[]).includes(grantId))
    this.#byte((isKnown ? 1 : 0) | ((place + 1) << 1))
  }

  #isCurrent(engine: EngineState, operation: CasOperation | undefined, { op }: Message): boolean {
    return op !== 0 && (this.#isObserved ? operation?.op === op : engine.op === op)
  }

  #writeCall(call: Call | undefined): void {
    if (call === undefined) {
      this.#byte(methods.length)
      return
    }
    this.#byte(methods.indexOf(call.method as (typeof methods)[number]) | (call.isOverdue === true ? 8 : 0))
    this.#time(call.sentAt)
    this.#time(call.limitAt)
  }

  #writeAcquiring(engine: Acquiring, index: number): void {
    const { grantId, queue, woken, refusals, failures, failure, call, sentAt, firstSentAt, retryAt, uncertainSince } =
      engine
    this.#id(index, grantId)
    const { exact, cleanup } = this.#bounds
    this.#byte(exact ? flags(queue, woken, refusals > 0, failures > 0, failure !== undefined) : flags(queue))
    this.#writeCall(call)
    // Once it was answered, nothing depends on when the last claim was sent.
    this.#time(exact || call !== undefined ? sentAt : undefined)
    this.#time(firstSentAt)
    this.#time(retryAt)
    // Only what has to be cleaned up depends on it.
    this.#time(exact || cleanup ? uncertainSince : undefined)
  }

  #writeGrant({ grantId, fencingToken }: Grant, index: number): void {
    this.#id(index, grantId)
    this.#token(Number(fencingToken))
  }

  #writeHeld(engine: Held, index: number): void {
    const { grant, failures, failure, hasStray, changed, call, confirmedAt, validUntil, heartbeatAt } = engine
    this.#writeGrant(grant, index)
    const { exact, cleanup } = this.#bounds
    const isStray = hasStray && (exact || cleanup)
    this.#byte(exact ? flags(isStray, changed === true, failures > 0, failure !== undefined) : flags(isStray))
    this.#writeCall(call)
    // It is as long before the end of the validity as a validity lasts.
    if (exact) this.#time(confirmedAt)
    this.#time(validUntil)
    this.#time(heartbeatAt)
  }

  #writeReleasing(engine: Releasing, index: number): void {
    const { grant, call, retryAt, limitAt, failures, failure, hasStray } = engine
    this.#writeGrant(grant, index)
    const { exact, cleanup } = this.#bounds
    const isStray = hasStray && (exact || cleanup)
    const isCalling = call !== undefined
    this.#byte(exact ? flags(isStray, isCalling, failures > 0, failure !== undefined) : flags(isStray, isCalling))
    this.#time(retryAt)
    this.#time(limitAt)
  }

  /** In an order that does not depend on names. Grant ids that are only in messages are ordered by what the server knows of them. */
  #sorted(messages: readonly Message[], index: number, { lease, queue, entry }: Server): readonly Message[] {
    const ids = this.#ids[index] as string[]
    const holder = lease?.grantId ?? entry.grantId
    const rankOf = (grantId: string): number => {
      const known = ids.indexOf(grantId)
      if (known !== -1) return known
      if (grantId === holder) return OTHERS
      const place = queue.findIndex((waiting) => waiting.grantId === grantId)
      if (place !== -1) return OTHERS + 1 + place
      return 2 * OTHERS + messages.length - messages.filter((message) => message.grantId === grantId).length
    }
    return [...messages].sort(
      (one, other) =>
        compareMessages(one, other) ||
        rankOf(one.grantId) - rankOf(other.grantId) ||
        compareTexts(one.grantId, other.grantId),
    )
  }

  #writeMessages(
    messages: readonly Message[],
    index: number,
    server: Server,
    isCurrent: (message: Message) => boolean,
  ): void {
    const sorted = messages.length < 2 ? messages : this.#sorted(messages, index, server)
    for (const message of sorted) {
      this.#byte(message.kind | (isCurrent(message) ? CURRENT : 0))
      this.#id(index, message.grantId)
      this.#token(message.token)
      if (this.#isObserved) this.#version(message.version)
      this.#byte(message.detail)
    }
  }

  #writeCas(client: Client, index: number, server: Server): void {
    const { cas } = client
    const { seenVersion, seenSince, written, operation } = cas
    const isSeen = cas.seenVersion !== 0 && (this.#bounds.exact || hasSeen(client, server))
    this.#version(isSeen ? seenVersion : 0)
    if (isSeen) this.#time(seenSince)
    const isUsed = usesWritten(client)
    this.#version(isUsed ? written.version : 0)
    if (isUsed) {
      this.#id(index, written.grantId)
      this.#token(written.token)
      this.#byte(written.owner === '' ? 0 : 1)
    }
    if (operation === undefined) {
      this.#byte(methods.length)
      return
    }
    const { method, grantId, token, writes } = operation
    this.#byte(methods.indexOf(method) | (writes === undefined ? 0 : 8))
    this.#id(index, grantId)
    this.#token(token)
    if (writes === undefined) return
    this.#id(index, writes.grantId)
    this.#token(writes.token)
    this.#byte(writes.owner === '' ? 0 : 1)
  }

  /** A grant of the server: which client has it, and its number there; 0 if no client knows of it any more. */
  #writeHolder(grantId: string): void {
    for (let index = 0; index < this.#ids.length; index += 1) {
      if (!isIdOf(index, grantId)) continue
      const number = (this.#ids[index] as string[]).indexOf(grantId) + 1
      if (number === 0) break
      this.#byte((this.placeOf[index] as number) + 1)
      this.#byte(number)
      return
    }
    this.#byte(0)
    this.#byte(0)
  }

  #writeServer({ lease, queue, entry, unchangedFor, largest }: Server): void {
    this.#token(largest)
    if (this.#isObserved) {
      this.#byte(entry.owner === '' ? 0 : 1)
      this.#writeHolder(entry.grantId)
      this.#token(entry.token)
      this.#version(entry.version)
      this.#byte(unchangedFor)
      return
    }
    this.#byte(lease === undefined ? 0 : lease.state === 'leased' ? 1 : 2)
    if (lease !== undefined) {
      this.#writeHolder(lease.grantId)
      this.#token(Number(lease.fencingToken))
      this.#time(lease.lockedUntil)
    }
    this.#byte(queue.length)
    for (const { grantId, keptUntil } of queue) {
      this.#writeHolder(grantId)
      this.#time(keptUntil)
    }
  }
}

function flags(...bits: readonly boolean[]): number {
  let sum = 0
  for (let place = 0; place < bits.length; place += 1) if (bits[place] === true) sum |= 1 << place
  return sum
}

/** Keeps the numbers sorted. */
function add(numbers: number[], number: number): void {
  let place = numbers.length
  while (place > 0 && (numbers[place - 1] as number) > number) place -= 1
  if (place > 0 && numbers[place - 1] === number) return
  numbers.splice(place, 0, number)
}

/** The place of a number, from 1. */
function rankOf(numbers: readonly number[], number: number): number {
  return numbers.indexOf(number) + 1
}

function compareMessages(one: Message, other: Message): number {
  return (
    one.kind - other.kind ||
    one.op - other.op ||
    one.detail - other.detail ||
    one.token - other.token ||
    one.version - other.version
  )
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
