import { type Clock, LeaseConfigurationError, LeaseConflictError, type LeaseError } from '@leasehold/core'
import { inTime, reasonOf } from '@leasehold/core/internal'
import type { AnyActorLogic, AnyActorRef, Snapshot } from 'xstate'
import { createActor } from 'xstate'
import { carried } from './carried.js'
import type { Dispatcher, Task } from './dispatcher.js'
import { EntityClock } from './entity-clock.js'
import type { EntityState, SavedEntity } from './entity-state.js'
import type { Incoming } from './incoming.js'
import type { AnswerOutcome, Json } from './message.js'

/** How many ids of handled messages are kept with an entity. */
const KEPT_IDS = 1_000

/** The pauses after an entity could not be loaded, in milliseconds. After the last one, its messages are not delivered. */
const LOAD_PAUSES = [100, 200, 400, 800]

/** How the entities of a region work. */
export interface EntityRules {
  readonly logic: AnyActorLogic
  readonly clock: Clock
  readonly dispatcher: Dispatcher
  readonly state: EntityState | undefined
  /** The version of the snapshots that are saved. */
  readonly version: number
  readonly migrate: ((snapshot: Json, version: number) => Json) | undefined
  /** The most events that one entity has before it: queued, or handled and not saved. */
  readonly mailbox: number
  /** For how long a call of the state may take, in milliseconds. */
  readonly stateTimeout: number
  readonly report: (error: unknown, message: string) => void
}

/** The session of a shard, as its entities see it. */
export interface EntitySession {
  readonly session: string
  readonly token: bigint
  /** Whether the lease is held now. If it is not, the session has ended when this returns. */
  mayAct(): boolean
  /** Another owner has the shard. */
  end(cause: unknown): void
  /** It is not known what is saved: only a larger token makes it certain. */
  fail(cause: unknown): void
  /** An entity has become idle, or has ended. */
  onRest(entity: EntityHost): void
  /** An entity has failed, or could not be started. */
  onFailed(entity: EntityHost): void
}

/** An answer that waits until the effect of its event is saved. */
interface PendingAnswer {
  readonly incoming: Incoming
  readonly outcome: AnswerOutcome
}

/** One entity of a shard: loaded with its first message, it handles one message at a time while the lease is held. */
export class EntityHost implements Task {
  readonly id: string
  /** When the last message came, on the clock of the region. */
  lastUsed: number
  readonly #rules: EntityRules
  readonly #session: EntitySession
  readonly #clock: EntityClock
  readonly #mailbox: Incoming[] = []
  #phase: 'new' | 'loading' | 'running' | 'failed' | 'ended' = 'new'
  #actor: AnyActorRef | undefined
  /** The ids of the last handled messages, the oldest first. */
  #handled = new Set<string>()
  /** Events that the entity has handled, and not answered yet. */
  readonly #open = new Set<Incoming>()
  /** Answers that leave after the next save. */
  #answers: PendingAnswer[] = []
  /** Answers that leave after the save in progress. */
  #saving: readonly PendingAnswer[] | undefined
  /** The snapshot and the ids as they were saved last, or as the entity began. */
  #saved = ''
  /** Whether the snapshot may differ from the saved one. */
  #isChanged = false
  /** Whether an event is being handled now. */
  #isHandling = false

  constructor(id: string, rules: EntityRules, session: EntitySession) {
    this.id = id
    this.#rules = rules
    this.#session = session
    this.#clock = new EntityClock(rules.clock, () => session.mayAct())
    this.lastUsed = rules.clock.now()
  }

  /** Takes an event into the queue. Returns the reason if it does not. */
  accept(incoming: Incoming): string | undefined {
    const { mailbox, clock, dispatcher } = this.#rules
    if (this.#mailbox.length + this.#answers.length >= mailbox) {
      return `entity '${this.id}' has ${mailbox} events before it`
    }
    this.lastUsed = clock.now()
    this.#mailbox.push(incoming)
    dispatcher.add(this)
    return undefined
  }

  /** Whether it has an actor, or is about to have one. */
  get isRunning(): boolean {
    return (this.#phase !== 'new' && this.#phase !== 'ended') || this.#mailbox.length > 0
  }

  /** Whether all of its messages are handled, and their effects saved. */
  get isAtRest(): boolean {
    if (this.#phase === 'new' || this.#phase === 'ended') return this.#mailbox.length === 0
    const hasWork =
      this.#mailbox.length > 0 || this.#answers.length > 0 || this.#saving !== undefined || this.#isChanged
    return this.#phase === 'running' && !hasWork && !this.#isHandling
  }

  /** Whether it works on something that ends with an answer. */
  get isAnswering(): boolean {
    return this.#open.size > 0 && this.#hasChildren
  }

  /** Whether it can be stopped now: it has nothing to do, and no timer and no child actor that would be lost. */
  get isIdle(): boolean {
    return this.isAtRest && this.#clock.pending === 0 && !this.#hasChildren
  }

  step(most: number): number {
    if (this.#phase === 'new') this.#begin()
    let steps = 0
    while (this.#phase === 'running' && steps < most && this.#mailbox.length > 0) {
      if (!this.#session.mayAct()) return steps
      const incoming = this.#mailbox.shift()
      if (incoming !== undefined) this.#handle(incoming)
      steps += 1
    }
    if (this.#phase !== 'running') return steps
    this.#flush()
    if (this.#mailbox.length > 0) this.#rules.dispatcher.add(this)
    else if (this.isAtRest) this.#session.onRest(this)
    return steps
  }

  /**
   * Stops the entity at once. What it has not saved is gone. Returns the number of events that nobody waits for, and that it
   * has not handled.
   */
  end(reason: string, again?: string): number {
    if (this.#phase === 'ended') return 0
    this.#phase = 'ended'
    this.#stopActor()
    const more = again === undefined ? {} : { again }
    for (const { incoming } of this.#saving ?? []) incoming.answer?.({ type: 'unknown', reason, ...more })
    for (const { incoming } of this.#answers.splice(0)) incoming.answer?.({ type: 'unknown', reason, ...more })
    for (const { answer } of this.#open) answer?.({ type: 'unknown', reason, ...more })
    this.#saving = undefined
    this.#open.clear()
    return this.#dropMailbox({ type: 'not-delivered', reason, ...more })
  }

  get #hasEnded(): boolean {
    return this.#phase === 'ended'
  }

  get #hasChildren(): boolean {
    return Object.keys(Object(this.#actor?.getSnapshot()?.children)).length > 0
  }

  #dropMailbox(outcome: AnswerOutcome): number {
    let silent = 0
    for (const { answer } of this.#mailbox.splice(0)) {
      if (answer === undefined) silent += 1
      else answer(outcome)
    }
    return silent
  }

  #begin(): void {
    if (!this.#session.mayAct()) return
    this.#phase = 'loading'
    if (this.#rules.state === undefined) this.#start(undefined)
    else void this.#load(this.#rules.state)
  }

  async #load(state: EntityState): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        const saved = await this.#inTime(async () => await state.load(this.id, this.#session.token), 'load')
        if (this.#phase === 'loading' && this.#session.mayAct()) this.#start(saved)
        return
      } catch (error) {
        if (this.#phase !== 'loading' || !this.#session.mayAct()) return
        if (error instanceof LeaseConflictError) {
          this.#session.end(error)
          return
        }
        const wait = error instanceof LeaseConfigurationError ? undefined : LOAD_PAUSES[tries]
        if (wait === undefined) {
          this.#refuse(error, 'could not be loaded')
          return
        }
        await new Promise<void>((resolve) => this.#rules.clock.schedule(wait, resolve))
        if (this.#phase !== 'loading') return
      }
    }
  }

  /** Refuses the messages that are there. The next one loads the entity again. */
  #refuse(error: unknown, what: string): void {
    this.#phase = 'new'
    const silent = this.#dropMailbox({
      type: 'not-delivered',
      reason: `entity '${this.id}' ${what}: ${reasonOf(error)}`,
    })
    const lost = silent === 0 ? '' : `; ${silent} events that nobody waits for are dropped`
    this.#rules.report(error, `entity '${this.id}' ${what}${lost}`)
    this.#session.onFailed(this)
    this.#session.onRest(this)
  }

  #start(saved: SavedEntity | undefined): void {
    try {
      const snapshot = saved && this.#snapshotOf(saved)
      const options = { input: { id: this.id }, id: this.id, clock: this.#clock as never }
      const actor = createActor(this.#rules.logic, snapshot === undefined ? options : { ...options, snapshot })
      this.#actor = actor
      this.#handled = new Set(saved?.handled)
      this.#isChanged = false
      this.#phase = 'running'
      let failure: { readonly error: unknown } | undefined
      let isStarting = true
      const onFailure = (error: unknown): void => {
        if (isStarting) failure = { error }
        else this.#onFailure(error)
      }
      actor.subscribe({ next: () => this.#onChange(), error: onFailure })
      actor.start()
      isStarting = false
      if (this.#phase !== 'running') return
      // With a message more it would fail again.
      if (failure !== undefined) throw failure.error
      // An entity that was only asked is not saved.
      this.#saved = this.#rules.state === undefined ? '' : this.#textOf(this.#persisted())
    } catch (error) {
      if (this.#hasEnded) return
      this.#stopActor()
      this.#refuse(error, 'could not be started')
      return
    }
    this.#isChanged = false
    this.#rules.dispatcher.add(this)
  }

  #snapshotOf({ snapshot, version }: SavedEntity): Snapshot<unknown> {
    const { version: own, migrate } = this.#rules
    if (version === own) return snapshot as unknown as Snapshot<unknown>
    if (migrate === undefined || version > own) {
      const advice = version > own ? 'run the newer program' : 'give the region a migrate function'
      throw new LeaseConfigurationError(`its snapshot has version ${version}, and this region has ${own}: ${advice}`)
    }
    return carried(migrate(snapshot, version), 'the migrated snapshot') as unknown as Snapshot<unknown>
  }

  #onChange(): void {
    this.#isChanged = true
    if (!this.#isHandling) this.#rules.dispatcher.add(this)
  }

  #handle(incoming: Incoming): void {
    const { id, wantsReply, answer } = incoming
    if (id !== undefined && this.#handled.has(id)) {
      if (answer !== undefined) this.#answers.push({ incoming, outcome: { type: 'answered' } })
      return
    }
    if (this.#actor?.getSnapshot().status !== 'active') {
      answer?.({ type: 'not-delivered', reason: `entity '${this.id}' has reached its final state` })
      return
    }
    if (answer !== undefined) this.#open.add(incoming)
    this.#isHandling = true
    this.#actor.send(wantsReply ? this.#withReply(incoming) : incoming.event)
    this.#isHandling = false
    if (this.#phase !== 'running') return
    if (id !== undefined) this.#remember(id)
    if (answer !== undefined && !wantsReply) this.#answer(incoming, { type: 'answered' })
  }

  #remember(id: string): void {
    this.#isChanged = true
    this.#handled.add(id)
    const [oldest] = this.#handled
    if (this.#handled.size > KEPT_IDS && oldest !== undefined) this.#handled.delete(oldest)
  }

  /** The event with its `reply`, which is not copied with the event: a snapshot cannot hold a function. */
  #withReply(incoming: Incoming): object {
    const reply = (given?: unknown): void => {
      const answer = given === undefined ? {} : { answer: carried(given, 'the answer') }
      this.#answer(incoming, { type: 'answered', ...answer })
    }
    return Object.defineProperty(incoming.event, 'reply', { value: reply })
  }

  #answer(incoming: Incoming, outcome: AnswerOutcome): void {
    if (!this.#open.delete(incoming)) return
    this.#answers.push({ incoming, outcome })
    if (!this.#isHandling) this.#rules.dispatcher.add(this)
  }

  /** Saves what has changed, and sends the answers that need no save. One save at a time: the next one covers all since. */
  #flush(): void {
    const { state } = this.#rules
    if (this.#saving !== undefined) return
    try {
      if (state === undefined || !this.#isChanged) this.#sendAnswers()
      else {
        const snapshot = this.#persisted()
        this.#isChanged = false
        const text = this.#textOf(snapshot)
        if (text === this.#saved) this.#sendAnswers()
        else void this.#save(state, snapshot, text)
      }
    } catch (error) {
      // The events before would make the same snapshot again.
      this.#onFailure(error, false)
    }
    if (state === undefined) this.#isChanged = false
    if (state === undefined && this.#actor?.getSnapshot().status === 'done') this.#forget()
  }

  #sendAnswers(): void {
    for (const { incoming, outcome } of this.#answers.splice(0)) incoming.answer?.(outcome)
  }

  /** Without a state, an entity that has reached its final state is forgotten. The next message starts it again from the beginning. */
  #forget(): void {
    this.#stopActor()
    this.#phase = 'new'
    for (const { answer } of this.#open)
      answer?.({ type: 'unknown', reason: `entity '${this.id}' ended without an answer` })
    this.#open.clear()
    if (this.#mailbox.length > 0) this.#rules.dispatcher.add(this)
    else this.#session.onRest(this)
  }

  async #save(state: EntityState, snapshot: Json, text: string): Promise<void> {
    if (!this.#session.mayAct()) return
    const answers = this.#answers.splice(0)
    this.#saving = answers
    const entity = { snapshot, version: this.#rules.version, handled: [...this.#handled] }
    let fault: unknown
    try {
      await this.#inTime(async () => await state.save(this.id, entity, this.#session.token), 'save')
    } catch (error) {
      fault = error ?? new Error('save rejected without an error')
    }
    if (this.#phase === 'ended') return
    if (fault instanceof LeaseConflictError) this.#session.end(fault)
    else if (fault instanceof LeaseConfigurationError) this.#onUnsavable(fault, answers)
    else if (fault !== undefined) this.#session.fail(fault)
    else this.#onSaved(text, answers)
  }

  #onSaved(text: string, answers: readonly PendingAnswer[]): void {
    this.#saving = undefined
    this.#saved = text
    for (const { incoming, outcome } of answers) incoming.answer?.(outcome)
    this.#goOn()
  }

  /** The state has refused the snapshot before it wrote anything: the entity goes on from the saved one. */
  #onUnsavable(error: LeaseError, answers: readonly PendingAnswer[]): void {
    this.#saving = undefined
    for (const { incoming } of answers) incoming.answer?.({ type: 'unknown', reason: reasonOf(error) })
    if (this.#phase === 'running') this.#onFailure(error, false)
    else this.#goOn()
  }

  #goOn(): void {
    if (this.#phase === 'failed') this.#phase = 'new'
    this.#rules.dispatcher.add(this)
    if (this.isAtRest) this.#session.onRest(this)
  }

  /**
   * The actor has failed. Its unsaved effects are gone with it. The event that it failed at is not repeated; those before it
   * that are delivered at least once are, before all others, if they `mayRepeat`.
   */
  #onFailure(error: unknown, mayRepeat = this.#rules.state !== undefined): void {
    if (this.#phase !== 'running') return
    this.#phase = this.#saving === undefined ? 'new' : 'failed'
    this.#isHandling = false
    this.#isChanged = false
    this.#stopActor()
    const reason = `entity '${this.id}' failed: ${reasonOf(error)}`
    const repeated: Incoming[] = []
    for (const { incoming } of this.#answers.splice(0)) {
      if (incoming.id === undefined || !mayRepeat) incoming.answer?.({ type: 'unknown', reason })
      else repeated.push(incoming)
    }
    for (const { answer } of this.#open) answer?.({ type: 'unknown', reason })
    this.#open.clear()
    this.#mailbox.unshift(...repeated)
    this.#rules.report(error, `entity '${this.id}' failed, and starts again with its next message`)
    this.#session.onFailed(this)
    if (this.#phase === 'new' && this.#mailbox.length > 0) this.#rules.dispatcher.add(this)
    else if (this.isAtRest) this.#session.onRest(this)
  }

  #stopActor(): void {
    const actor = this.#actor
    this.#actor = undefined
    this.#clock.clear()
    try {
      actor?.stop()
    } catch (error) {
      this.#rules.report(error, `entity '${this.id}' could not be stopped`)
    }
  }

  #persisted(): Json {
    return carried(this.#actor?.getPersistedSnapshot(), 'the snapshot')
  }

  #textOf(snapshot: Json): string {
    return JSON.stringify([snapshot, [...this.#handled]])
  }

  async #inTime<T>(call: () => Promise<T>, what: 'load' | 'save'): Promise<T> {
    const { clock, stateTimeout } = this.#rules
    return await inTime(clock, stateTimeout, call(), () => {
      throw new Error(`${what} of entity '${this.id}' did not end within ${stateTimeout} ms`)
    })
  }
}
