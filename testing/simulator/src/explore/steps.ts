import { heldIn, wakeAt } from '@leasehold/core/internal'
import {
  ASK_ONCE,
  ASK_WAITING,
  CARRY_OUT,
  CARRY_OUT_COPY,
  CLEAN,
  CRASH,
  DELETE,
  DROP,
  FAIL,
  GIVE_UP,
  LEAVE,
  PASS,
  PASS_FAST,
  PASS_SLOW,
  RECEIVE,
  TIMER,
} from './action.js'
import type { Bounds } from './bounds.js'
import type { BrokenRule } from './broken-rule.js'
import { ClientStep, type Draft } from './client-step.js'
import { FAILURE, onGrid } from './engine-on-grid.js'
import { Grid } from './grid.js'
import { FETCH, isRequest, type Message, READ, RELEASE } from './message.js'
import { ObservedModel } from './observed-model.js'
import { ServerTimedModel } from './server-timed-model.js'
import type { StoreModel } from './store-model.js'
import {
  type Client,
  considersItselfHolder,
  hasSeen,
  NOBODY,
  newClient,
  ONCE,
  type Server,
  WAITING,
  type World,
} from './world.js'

/** No client's steps are asleep. */
export const AWAKE = 0

/** A state that a step leads to. `asleep`: the clients whose own steps need not be taken there, as bits. */
export type Visit = (
  kind: number,
  client: number,
  message: number,
  next: World,
  asleep: number,
  broken: BrokenRule | undefined,
) => void

/**
 * All steps from a state. In which order two clients take steps of their own makes no difference, nor does it whether the
 * server carries out a request of another client before or after: one of the two orders is enough. After a step of one
 * client, the steps of the others that were taken from the same state are therefore asleep, until something happens
 * to their clients or time passes (the sleep sets of P. Godefroid, "Partial-Order Methods for the Verification of Concurrent
 * Systems", 1996). Every state is still visited.
 */
export class Steps {
  readonly grid: Grid
  readonly #bounds: Bounds
  readonly #store: StoreModel
  readonly #step: ClientStep
  readonly #reduces: boolean

  constructor(bounds: Bounds, reduces: boolean) {
    this.#bounds = bounds
    // Whether a user asks depends on the queue then.
    this.#reduces = reduces && !bounds.queue
    this.grid = new Grid(bounds)
    this.#store =
      bounds.store === 'observed' ? new ObservedModel(this.grid) : new ServerTimedModel(this.grid, bounds.exact)
    this.#step = new ClientStep(bounds, this.grid, this.#store)
  }

  /** Visits the next states. `asleep`: the clients whose own steps need not be taken. */
  from(world: World, asleep: number, visit: Visit): void {
    const slept = this.ownFrom(world, asleep, ~asleep, visit)
    const { clients } = world
    for (let index = 0; index < clients.length; index += 1) {
      this.#carryOut(world, index, clients[index] as Client, slept & ~(1 << index), visit)
    }
    this.#pass(world, visit)
  }

  /**
   * Takes only the own steps of the `wanted` clients. Returns the clients that are asleep after that. Steps that were taken
   * from this state at an earlier visit are not asleep: the wanted ones were asleep after them.
   */
  ownFrom(world: World, asleep: number, wanted: number, visit: Visit): number {
    const { clients } = world
    let slept = this.#reduces ? asleep : AWAKE
    for (let index = 0; index < clients.length; index += 1) {
      const bit = 1 << index
      if (this.#reduces && (wanted & bit) === 0) continue
      this.#own(world, index, clients[index] as Client, slept & ~bit, visit)
      if (this.#reduces) slept |= bit
    }
    return slept
  }

  /** The rule that this state breaks. */
  brokenIn({ clients, server }: World): BrokenRule | undefined {
    let holder = -1
    for (let index = 0; index < clients.length; index += 1) {
      const client = clients[index] as Client
      if (!considersItselfHolder(client)) continue
      if (holder !== -1) return { rule: 'exclusion', message: `held by client ${holder} and by client ${index}` }
      holder = index
      const grantId = heldIn(client.engine)?.grant.grantId ?? ''
      if (!this.#store.isInForce(server, grantId)) {
        return { rule: 'validity-outlives-grant', message: `client ${index} holds ${grantId}, which is not in force` }
      }
    }
    return undefined
  }

  /** The steps of a client and its user. */
  #own(world: World, index: number, client: Client, asleep: number, visit: Visit): void {
    const { engine, messages } = client
    const take = (kind: number, message: number, change: (draft: Draft) => void): void => {
      this.#step.broken = undefined
      const next = this.#step.take(index, client, change)
      if (next !== undefined)
        visit(kind, index, message, withClient(world, index, this.#kept(next)), asleep, this.#step.broken)
    }
    this.#use(index, client, world.server, take)
    if (wakeAt(engine) <= 0) take(TIMER, 0, (draft) => this.#step.tick(index, draft))
    if (this.#bounds.failures && isCalling(client)) {
      take(FAIL, 0, (draft) => {
        this.#store.abort(draft)
        const { op } = draft.engine
        this.#step.dispatch(index, draft, { type: 'failure', op, error: FAILURE, definitive: false })
      })
    }
    for (let place = 0; place < messages.length; place += 1) {
      const message = messages[place] as Message
      if (isRequest(message)) continue
      take(RECEIVE, place, (draft) => {
        draft.messages = without(messages, place)
        this.#store.onAnswer(this.#step, index, draft, message)
      })
    }
    if (messages.length === this.#bounds.messages) {
      for (let place = 0; place < messages.length; place += 1) {
        take(DROP, place, (draft) => {
          draft.messages = without(messages, place)
        })
      }
    }
  }

  #use(
    index: number,
    client: Client,
    server: Server,
    take: (kind: number, message: number, change: (draft: Draft) => void) => void,
  ): void {
    const { engine, leftover, nextId } = client
    const { users, crashes } = this.#bounds
    if (engine.phase === 'idle' && server.queue.length < 2 * this.#bounds.clients) {
      for (const user of users) {
        const isWaiting = user === 'waiting'
        take(isWaiting ? ASK_WAITING : ASK_ONCE, 0, (draft) => {
          draft.nextId = nextId + 1
          draft.waits = isWaiting ? WAITING : ONCE
          const grantId = `${index}.${nextId}`
          this.#step.dispatch(index, draft, { type: 'acquire', grantId, queue: this.#bounds.queue && isWaiting })
        })
      }
    }
    if (engine.phase === 'acquiring') {
      take(GIVE_UP, 0, (draft) => {
        draft.waits = NOBODY
        this.#step.dispatch(index, draft, { type: 'cancel' })
      })
    }
    if (engine.phase === 'held' || engine.phase === 'jeopardy') {
      take(LEAVE, 0, (draft) => {
        draft.isOwed = false
        this.#step.dispatch(index, draft, { type: 'release' })
      })
    }
    if (leftover !== '') {
      take(CLEAN, 0, (draft) => {
        draft.leftover = ''
        this.#step.send(draft, { kind: RELEASE, op: 0, grantId: leftover, token: 0, version: 0, detail: 0 })
      })
    }
    const isNew = engine.phase === 'idle' && leftover === '' && !hasSeen(client, server)
    if (crashes && !isNew) {
      take(CRASH, 0, (draft) => {
        const messages = draft.messages.filter(isRequest).map((message) => ({ ...message, op: 0 }))
        Object.assign(draft, newClient(nextId, messages))
      })
    }
  }

  /** The server carries out a request of a client. */
  #carryOut(world: World, index: number, client: Client, asleep: number, visit: Visit): void {
    const { messages } = client
    for (let place = 0; place < messages.length; place += 1) {
      const message = messages[place] as Message
      if (!isRequest(message)) continue
      const { server, answer, broken } = this.#store.carryOut(world.server, index, client, message)
      const answers = this.#store.awaits(client, answer) || this.#bounds.lateAnswers ? [answer] : []
      const next = (left: readonly Message[]): World => {
        const changed = this.#kept({ ...client, messages: [...left, ...answers] })
        return { ...withClient(world, index, changed), server }
      }
      visit(CARRY_OUT, index, place, next(without(messages, place)), asleep, broken)
      if (this.#bounds.duplicates && messages.length + answers.length <= this.#bounds.messages) {
        visit(CARRY_OUT_COPY, index, place, next(messages), asleep, broken)
      }
    }
  }

  /** Time passes: one unit at a time. A client that is due stands still meanwhile, and a message is late. */
  #pass(world: World, visit: Visit): void {
    const { drift, deletions } = this.#bounds
    visit(PASS, 0, 0, this.#later(world, -1, 1), AWAKE, undefined)
    if (world.steady === 0 && drift !== 'none') {
      for (let index = 0; index < world.clients.length; index += 1) {
        const client = world.clients[index] as Client
        if (client.engine.phase === 'idle' && !hasSeen(client, world.server)) continue
        visit(PASS_SLOW, index, 0, this.#later(world, index, 0), AWAKE, undefined)
        if (drift === 'both') visit(PASS_FAST, index, 0, this.#later(world, index, 2), AWAKE, undefined)
      }
    }
    const { lease } = world.server
    if (deletions && lease !== undefined && lease.lockedUntil <= 0) {
      visit(DELETE, 0, 0, { ...world, server: { ...world.server, lease: undefined } }, AWAKE, undefined)
    }
  }

  #later(world: World, index: number, passed: number): World {
    const clients = world.clients.map((client, place) => {
      const units = place === index ? passed : 1
      return { ...client, engine: onGrid(client.engine, units, this.grid), cas: this.#store.clientLater(client, units) }
    })
    const steady = index === -1 ? Math.max(world.steady - 1, 0) : (this.#bounds.steady ?? this.grid.ttl - 1)
    return { clients, server: this.#store.later(world.server, 1), steady }
  }

  /** Answers that no call waits for are dropped, and requests that are only to be read too: they change nothing. */
  #kept(client: Client): Client {
    const { messages } = client
    let isChanged = false
    const kept: Message[] = []
    for (const message of messages) {
      const isAwaited = this.#store.awaits(client, message)
      const changesNothing = (!isRequest(message) && !this.#bounds.lateAnswers) || onlyReads(message)
      if (!isAwaited && changesNothing) isChanged = true
      else if (!isAwaited && message.op !== 0) {
        isChanged = true
        kept.push({ ...message, op: 0 })
      } else kept.push(message)
    }
    return isChanged ? { ...client, messages: kept } : client
  }
}

function isCalling({ engine }: Client): boolean {
  return engine.phase !== 'idle' && engine.call !== undefined
}

function onlyReads({ kind }: Message): boolean {
  return kind === READ || kind === FETCH
}

function without(messages: readonly Message[], place: number): readonly Message[] {
  return messages.filter((_, at) => at !== place)
}

function withClient(world: World, index: number, client: Client): World {
  const clients = world.clients.slice()
  clients[index] = client
  return { ...world, clients }
}
