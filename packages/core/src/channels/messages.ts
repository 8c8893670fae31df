import type { LeaseLost } from '../errors/lease-lost.js'
import type { Metadata } from '../store/lease-record.js'

/** The fields of every message about a lease. */
export interface LeaseMessage {
  readonly leaseName: string
  readonly owner: string
  /** The kind of its store, such as `redis`. */
  readonly store: string
  /** The lease itself: a key for a `WeakMap`. A `StoreLease`, whose `remaining` and `state` can be read later. */
  readonly lease: object
}

/** How the name became free for a grant, as far as its own claim has seen it. */
export interface GrantOrigin {
  /**
   * `free`: nobody held the name when it was asked for. `hand-off`: it was adopted. Otherwise the claim was refused before, and the
   * holder it was refused for ended by a `release` (or handed the lease over to this waiter), by its `expiry`, or by a
   * `break`. `unknown`: the store does not say when the grant of a holder ends.
   */
  readonly from: 'free' | 'release' | 'expiry' | 'hand-off' | 'break' | 'unknown'
  /**
   * The time without a holder before the grant was confirmed, in milliseconds, on the clock of the lease. It counts from the end
   * that the store had announced, or from the store's signal that the name is free. `undefined` where neither is known: for
   * `free`, and for a release that a claim found by asking again.
   */
  readonly vacancy: number | undefined
}

/** `leasehold:acquired`: the lease is held under a new grant, also after `adopt`. */
export interface AcquiredMessage extends LeaseMessage, GrantOrigin {
  readonly fencingToken: bigint
  readonly grantId: string
  /** Milliseconds; `Infinity` for a lease that does not expire. */
  readonly ttl: number
  /** The metadata of the caller that gave some first; `undefined` if none did. */
  readonly metadata: Metadata | undefined
  /** What the last holder left in the record. */
  readonly previous: Metadata | undefined
}

/** `leasehold:renewed`: a heartbeat, or a renewal by hand, was confirmed. */
export interface RenewedMessage extends LeaseMessage {
  readonly fencingToken: bigint
  /** How long the store took, in milliseconds; `undefined` if another thread keeps the lease. */
  readonly duration: number | undefined
  /** The validity that was left when the confirmation came, in milliseconds. */
  readonly remaining: number
  readonly ttl: number
  /** `remaining / ttl`. Near 1: the lease is safe. Near 0: it was almost lost. */
  readonly margin: number
}

/** `leasehold:jeopardy`: the first heartbeat since the last confirmation has failed, or is late. */
export interface JeopardyMessage extends LeaseMessage {
  readonly fencingToken: bigint | undefined
  /** `undefined` if the heartbeat is only late. */
  readonly cause: unknown
  /** The validity left, in milliseconds. */
  readonly remaining: number
}

/** `leasehold:recovered`: a heartbeat was confirmed after a jeopardy. */
export interface RecoveredMessage extends LeaseMessage {
  readonly fencingToken: bigint
  /** The validity now, in milliseconds. */
  readonly remaining: number
}

/** `leasehold:lost`: the loss was reported. Its work may go on until it notices. */
export interface LostMessage extends LeaseMessage {
  readonly fencingToken: bigint
  readonly reason: LeaseLost['reason']
  readonly lost: LeaseLost
  /** How long it was held, in milliseconds; `undefined` if nobody listened to this channel when it was acquired. */
  readonly held: number | undefined
}

/** `leasehold:released`: the holder has given the lease up. */
export interface ReleasedMessage extends LeaseMessage {
  /** `undefined` if nobody listened to this channel when the lease was acquired. */
  readonly fencingToken: bigint | undefined
  /** `unknown`: the store has not confirmed it; the lease is freed in the background, or expires. */
  readonly end: 'released' | 'handed-off' | 'unknown'
  /** How long it was held, in milliseconds; `undefined` as for the token. */
  readonly held: number | undefined
}

/** `leasehold:waiting`: a caller with `wait` has begun to ask for the lease, or has its answer. */
export interface WaitingMessage extends LeaseMessage {
  readonly waiting: boolean
}

/** What a caller that asked for a lease got. `unknown`: the store may have granted it. */
export type AcquireResult = 'granted' | 'held' | 'timeout' | 'cancelled' | 'unknown' | 'failed'

/** The context of the tracing channel `leasehold:acquire`: one call of `acquire`, `run` or `adopt` that asks the store. */
export interface AcquireMessage extends LeaseMessage {
  /** Milliseconds; 0 for an attempt without a wait. */
  readonly wait: number
  /** Set before the end. */
  outcome?: AcquireResult
  fencingToken?: bigint | undefined
  /** Set by the channel if the call rejects. */
  error?: unknown
}

/** The context of the tracing channel `leasehold:run`: the work of one `run`, which is done inside of it. */
export interface RunMessage extends LeaseMessage {
  readonly fencingToken: bigint | undefined
  /** Set before the end. `lost`: the grant ended before the work did. */
  outcome?: 'done' | 'failed' | 'lost'
  /** Set by the channel if the run rejects. */
  error?: unknown
}

/** The operations of a store that are traced. */
export type StoreOperationName = 'acquire' | 'renew' | 'renewMany' | 'change' | 'break' | 'read' | 'update' | 'release'

/** The context of the tracing channel `leasehold:store`: one call of the store for a lease, or for many heartbeats. */
export interface StoreMessage {
  /** `undefined` for a call for many leases. */
  readonly leaseName: string | undefined
  readonly owner: string | undefined
  readonly store: string
  readonly operation: StoreOperationName
  /** How many leases the call is for. */
  readonly leases: number
  /** Set before the end. `refused`: the store has answered that the name is held. */
  outcome?: 'done' | 'refused' | 'failed'
  /** Set by the channel if the call rejects. */
  error?: unknown
}

/** `leasehold:guard-rejected`: a fencing guard has rejected a write with an old token. */
export interface GuardRejectedMessage {
  /** The kind of the guard, such as `postgres`. */
  readonly guard: string
  readonly resource: string
  readonly token: bigint
  /** The larger token that the resource had seen. */
  readonly seen: string
}

/** `leasehold:stall`: a timer of the engine came late, because the event loop was blocked or the process was paused. */
export interface StallMessage {
  /** Milliseconds, more than 20. */
  readonly lateness: number
}

/** `leasehold:elected`: a candidate leads. */
export interface ElectedMessage {
  readonly election: string
  readonly owner: string
  readonly term: bigint
}

/** `leasehold:resigned`: the term is over. */
export interface ResignedMessage extends ElectedMessage {
  /** How its lease was lost; `undefined` if it was given up. */
  readonly lost: LeaseLost['reason'] | undefined
}

/** `leasehold:tick`: an instance is done with a tick, or with a run by hand, of a schedule. */
export interface TickMessage {
  readonly schedule: string
  readonly owner: string
  /** Milliseconds since 1970. */
  readonly due: number
  /**
   * How its run ended; or `skipped`: it was left out because the run before took too long, or because operators wanted it;
   * or `missed`: this instance came too late.
   */
  readonly outcome: string
  /** Whether it was asked for by hand. */
  readonly byHand: boolean
  /** The time between `due` and the start, in milliseconds; `undefined` if it was not started. */
  readonly lag: number | undefined
  /** How long the run took, in milliseconds; `undefined` if it was not started. */
  readonly duration: number | undefined
  readonly error?: unknown
}

/** `leasehold:permit`: a permit of a semaphore was acquired, or is not held any more. */
export interface PermitMessage {
  readonly semaphore: string
  readonly owner: string
  readonly held: boolean
  /** How many permits the semaphore has. */
  readonly permits: number
}

/** `leasehold:partition`: the work of a partition has begun or ended in this worker. */
export interface PartitionMessage {
  readonly group: string
  readonly owner: string
  readonly partition: number
  readonly state: 'held' | 'released' | 'lost'
}

/** `leasehold:partitions`: a worker of a group has looked at all partitions. */
export interface PartitionsMessage {
  readonly group: string
  readonly owner: string
  /** How many partitions this worker should have. */
  readonly wanted: number
  /** How many it has. */
  readonly held: number
  /** How many have no owner. */
  readonly unowned: number
}

/** `leasehold:shard`: a process has taken a shard of a region, has handed it over or has lost it. */
export interface ShardMessage {
  /** The name of the region, or of the singleton: its one shard has the number 0. */
  readonly region: string
  readonly owner: string
  readonly shard: number
  readonly state: 'taken' | 'handed-over' | 'lost'
}

/** `leasehold:delivery`: it is certain what became of a message of this process, or that it is not known. */
export interface DeliveryMessage {
  readonly region: string
  readonly owner: string
  readonly operation: 'tell' | 'ask'
  readonly outcome: 'delivered' | 'not-delivered' | 'unknown'
}

/** `leasehold:region`: a process of a region has looked at all shards. */
export interface RegionMessage {
  readonly region: string
  readonly owner: string
  /** How many entities run in this process. */
  readonly entities: number
  /** How many messages of this process are held back, on their way or not confirmed. */
  readonly waiting: number
}

/** The channels of `node:diagnostics_channel` that are published once for each event, and their messages. */
export interface LeaseChannels {
  'leasehold:acquired': AcquiredMessage
  'leasehold:renewed': RenewedMessage
  'leasehold:jeopardy': JeopardyMessage
  'leasehold:recovered': RecoveredMessage
  'leasehold:lost': LostMessage
  'leasehold:released': ReleasedMessage
  'leasehold:waiting': WaitingMessage
  'leasehold:guard-rejected': GuardRejectedMessage
  'leasehold:stall': StallMessage
  'leasehold:elected': ElectedMessage
  'leasehold:resigned': ResignedMessage
  'leasehold:tick': TickMessage
  'leasehold:permit': PermitMessage
  'leasehold:partition': PartitionMessage
  'leasehold:partitions': PartitionsMessage
  'leasehold:shard': ShardMessage
  'leasehold:delivery': DeliveryMessage
  'leasehold:region': RegionMessage
}

/** The tracing channels of `node:diagnostics_channel`, and their contexts. */
export interface LeaseTracingChannels {
  'leasehold:acquire': AcquireMessage
  'leasehold:run': RunMessage
  'leasehold:store': StoreMessage
}
