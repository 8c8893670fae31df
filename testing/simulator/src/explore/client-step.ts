import type { Grant } from '@leasehold/core'
import {
  awaits,
  type EngineEffect,
  type EngineEvent,
  type EngineState,
  type EventContext,
  heldIn,
  transition,
  wakeAt,
} from '@leasehold/core/internal'
import type { Bounds } from './bounds.js'
import type { BrokenRule, Rule } from './broken-rule.js'
import { onGrid } from './engine-on-grid.js'
import { contextOf, type Grid } from './grid.js'
import type { Message } from './message.js'
import { WITHDRAW } from './message.js'
import type { StoreModel } from './store-model.js'
import { type Client, NOBODY, ONCE } from './world.js'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A client while one of its steps is carried out. */
export type Draft = Writable<Client>

/** Carries out the steps of clients: calls the transition function of the engine, and does what it asks for. */
export class ClientStep {
  /** The rule that the last step broke. */
  broken: BrokenRule | undefined
  readonly #bounds: Bounds
  readonly #grid: Grid
  readonly #store: StoreModel
  readonly #contexts: readonly EventContext[]
  /** Whether there was no room for a message of the step. */
  #isFull = false

  constructor(bounds: Bounds, grid: Grid, store: StoreModel) {
    this.#bounds = bounds
    this.#grid = grid
    this.#store = store
    this.#contexts = Array.from({ length: bounds.clients }, (_, client) => contextOf(bounds, grid, client))
  }

  /** The client after the step; `undefined` if there was no room for its messages: another one has to be dropped first. */
  take(index: number, client: Client, change: (draft: Draft) => void): Client | undefined {
    this.#isFull = false
    const draft: Draft = { ...client }
    try {
      change(draft)
    } catch (error) {
      this.#break('uncaught-error', index, String(error))
    }
    if (this.#isFull) return undefined
    if (draft.engine !== client.engine) draft.engine = onGrid(draft.engine, 0, this.#grid)
    this.#checkSettled(index, draft)
    if (isRevived(client, draft)) this.#break('revived', index, 'its validity had ended')
    return draft
  }

  /** An event of the engine: what it leads to is carried out. */
  dispatch(index: number, draft: Draft, event: EngineEvent): void {
    const before = draft.engine
    const { state, effects } = transition(before, event, this.#contexts[index] as EventContext)
    draft.engine = state
    let isUnderWay = isCalling(before) && !('op' in event && awaits(before, event.op)) && event.type !== 'confirmed'
    const isEnded = before.phase === 'releasing' && state.phase !== 'releasing'
    if (isEnded && !effects.some(({ type }) => type === 'released')) this.#break('stuck-call', index, 'release')
    for (const effect of effects) {
      if (effect.type === 'abort') isUnderWay = false
      else if (effect.type === 'call') {
        if (isUnderWay) this.#break('two-in-flight', index, effect.request.method)
        isUnderWay = true
      }
      this.#perform(index, draft, effect)
    }
    if (isUnderWay && !isCalling(state)) this.#break('two-in-flight', index, 'a call is given up, but goes on')
  }

  /** The timer of the engine runs. */
  tick(index: number, draft: Draft): void {
    const { engine } = draft
    this.dispatch(index, draft, { type: 'tick' })
    if (draft.engine === engine)
      this.#break('runaway', index, `the timer runs again at once, in the phase ${engine.phase}`)
  }

  /** Sends a message to the store. */
  send(draft: Draft, message: Message): void {
    if (draft.messages.length >= this.#bounds.messages) this.#isFull = true
    else draft.messages = [...draft.messages, message]
  }

  #perform(index: number, draft: Draft, effect: EngineEffect): void {
    switch (effect.type) {
      case 'call':
        this.#store.call(this, index, draft, effect.op, effect.request)
        return
      case 'abort':
        this.#store.abort(draft)
        return
      case 'granted':
        this.#onGranted(index, draft, effect.grant)
        return
      case 'refused':
        if (draft.waits === ONCE) this.#endWait(index, draft)
        return
      case 'failed':
        if (draft.waits === ONCE || effect.definitive) this.#endWait(index, draft)
        return
      case 'lost':
        if (!draft.isOwed) this.#break('callback-twice', index, effect.lost.reason)
        draft.isOwed = false
        return
      case 'cleanup':
        if (this.#bounds.cleanup) draft.leftover = effect.grantId
        return
      case 'withdraw':
        if (this.#bounds.queue)
          this.send(draft, { kind: WITHDRAW, op: 0, grantId: effect.grantId, token: 0, version: 0, detail: 0 })
        return
      default:
    }
  }

  #onGranted(index: number, draft: Draft, grant: Grant): void {
    const { engine } = draft
    if (draft.isOwed) this.#break('loss-not-notified', index, 'of the grant before')
    const isValid = (engine.phase === 'held' || engine.phase === 'jeopardy') && engine.validUntil > 0
    if (!isValid) this.#break('granted-but-not-held', index, grant.grantId)
    draft.isOwed = true
    draft.waits = NOBODY
  }

  /** The last caller has its answer: the attempt is given up, if it goes on. */
  #endWait(index: number, draft: Draft): void {
    draft.waits = NOBODY
    this.dispatch(index, draft, { type: 'cancel' })
  }

  /** What the user waits for is under way, and the user knows whether the lease is held. */
  #checkSettled(index: number, { engine, waits, isOwed }: Draft): void {
    const isHeld = engine.phase === 'held' || engine.phase === 'jeopardy'
    if (isOwed && !isHeld) this.#break('loss-not-notified', index, `in the phase ${engine.phase}`)
    if ((waits !== NOBODY) !== (engine.phase === 'acquiring')) {
      this.#break('stuck-call', index, `acquire, in the phase ${engine.phase}`)
    }
    const isAsked = engine.phase === 'acquiring' || engine.phase === 'releasing'
    if (isAsked && wakeAt(engine) === Number.POSITIVE_INFINITY) {
      this.#break('stuck-call', index, `no timer ends the phase ${engine.phase}`)
    }
  }

  #break(rule: Rule, index: number, message: string): void {
    this.broken ??= { rule, message: `client ${index}: ${message}` }
  }
}

function isRevived(before: Client, after: Client): boolean {
  const [old, next] = [heldIn(before.engine), heldIn(after.engine)]
  return old !== undefined && old.validUntil <= 0 && next?.grant.grantId === old.grant.grantId && next.validUntil > 0
}

function isCalling(state: EngineState): boolean {
  return state.phase !== 'idle' && state.call !== undefined
}
