import type {
  ActorRefFromLogic,
  AnyActorLogic,
  AnyActorRef,
  AnyEventObject,
  OutputFrom,
  Snapshot,
  SnapshotStatus,
} from 'xstate'

/** Where a guarded actor stands. */
export type GuardState = 'acquiringLease' | 'active'

/** What a guarded actor tells of itself. A new object for each change: what was read stays as it was. */
export interface GuardContext {
  /** How many attempts in a row ended without a grant; 0 once granted. */
  readonly attempts: number
  /** How many times the worker was started. */
  readonly generation: number
  /** How many messages wait for their turn. */
  readonly stashed: number
  /** Why the last attempt failed, or how the lease was lost; `undefined` where it was merely refused, or granted. */
  readonly lastError: unknown
}

/** The snapshot of a guarded actor. */
export type LeaseGuardedSnapshot<W extends AnyActorLogic> = Snapshot<OutputFrom<W>> & {
  readonly value: GuardState
  readonly context: GuardContext
  /** `worker` while `active`. */
  readonly children: { readonly worker?: ActorRefFromLogic<W> }
  matches(value: GuardState): boolean
}

/** How an actor ended, or that it has not. */
export interface Outcome {
  readonly status: SnapshotStatus
  readonly output: unknown
  readonly error: unknown
}

export const running: Outcome = { status: 'active', output: undefined, error: undefined }
export const stopped: Outcome = { status: 'stopped', output: undefined, error: undefined }

const noChildren: { readonly worker?: AnyActorRef } = Object.freeze({})

/** A snapshot as the guard makes it; `subject` is the guard, out of sight of inspectors and serialisers. */
export class GuardSnapshot<Subject> {
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

  static subjectOf<Subject>(snapshot: GuardSnapshot<Subject>): Subject {
    return snapshot.#subject
  }
}

/** What is stored of an actor. Of one that has not ended always `acquiringLease`: restored, it has to acquire first. */
export interface PersistedGuard extends Outcome {
  readonly value: GuardState
  readonly input?: unknown
  /** The worker's own persisted snapshot, where it was running or had been restored itself. */
  readonly worker?: Snapshot<unknown>
  readonly stash?: readonly AnyEventObject[]
}
