import type {
  ActorRefFromLogic,
  AnyActorLogic,
  AnyActorRef,
  AnyEventObject,
  OutputFrom,
  Snapshot,
  SnapshotStatus,
} from 'xstate'

/** The state of a guarded actor. */
export type GuardState = 'acquiringLease' | 'active'

/** The context of a guarded actor. Immutable: each change creates a new object. */
export interface GuardContext {
  /** The number of consecutive attempts without a grant. 0 after a grant. */
  readonly attempts: number
  /** The number of times the worker was started. */
  readonly generation: number
  /** The number of stashed messages. */
  readonly stashed: number
  /** The error of the last attempt, or of the loss. `undefined` after a refusal or a grant. */
  readonly lastError: unknown
  /** Whether the actor is resigning and its worker may still finish (option `drain`). */
  readonly draining: boolean
}

/** The snapshot of a guarded actor. */
export type LeaseGuardedSnapshot<W extends AnyActorLogic> = Snapshot<OutputFrom<W>> & {
  readonly value: GuardState
  readonly context: GuardContext
  /** The worker, while the state is `active`. */
  readonly children: { readonly worker?: ActorRefFromLogic<W> }
  matches(value: GuardState): boolean
}

/** The status of an actor, with its output or error. */
export interface Outcome {
  readonly status: SnapshotStatus
  readonly output: unknown
  readonly error: unknown
}

export const running: Outcome = { status: 'active', output: undefined, error: undefined }
export const stopped: Outcome = { status: 'stopped', output: undefined, error: undefined }

const noChildren: { readonly worker?: AnyActorRef } = Object.freeze({})

/** The internal form of a snapshot. `subject` is the guarded actor; inspectors and serialisers cannot see it. */
export class GuardedSnapshot<Subject> {
  readonly status: SnapshotStatus
  readonly output: unknown
  readonly error: unknown
  readonly value: GuardState
  readonly context: GuardContext
  readonly children: { readonly worker?: AnyActorRef }
  readonly #subject: Subject

  constructor(
    subject: Subject,
    { status, output, error }: Outcome,
    value: GuardState,
    context: GuardContext,
    worker?: AnyActorRef,
  ) {
    this.status = status
    this.output = output
    this.error = error
    this.value = value
    this.context = context
    this.children = worker === undefined ? noChildren : { worker }
    this.#subject = subject
  }

  matches(value: GuardState): boolean {
    return this.value === value
  }

  static isOne(value: unknown): value is GuardedSnapshot<unknown> {
    return typeof value === 'object' && value !== null && #subject in value
  }

  static subjectOf<Subject>(snapshot: GuardedSnapshot<Subject>): Subject {
    return snapshot.#subject
  }
}

/** A stored snapshot. The state of a running actor is always `acquiringLease`, because it must acquire after a restore. */
export interface PersistedGuardedActor extends Outcome {
  readonly value: GuardState
  readonly input?: unknown
  /** The worker's persisted snapshot, if the worker was running or restored. */
  readonly worker?: Snapshot<unknown>
  readonly stash?: readonly AnyEventObject[]
}

/** The input of a guarded actor, and its restored parts, if any. */
export interface GuardedSeed {
  readonly input: unknown
  readonly worker?: Snapshot<unknown> | undefined
  readonly stash?: readonly AnyEventObject[] | undefined
}
