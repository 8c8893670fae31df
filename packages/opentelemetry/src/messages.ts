import type { LeaseLost, Metadata } from '@leasehold/core'

/** The fields of every message about a lease. */
export interface LeaseMessage {
  readonly leaseName: string
  readonly owner: string
  readonly store?: string | undefined
  readonly lease: object
}

export interface AcquiredMessage extends LeaseMessage {
  readonly fencingToken: bigint
  readonly ttl: number
  readonly from?: 'free' | 'release' | 'expiry' | 'hand-off' | 'break' | 'unknown' | undefined
  readonly vacancy?: number | undefined
  readonly metadata?: Metadata | undefined
  readonly previous?: Metadata | undefined
}

export interface RenewedMessage extends LeaseMessage {
  readonly ttl: number
  readonly margin: number
}

export interface JeopardyMessage extends LeaseMessage {
  readonly cause?: unknown
  readonly remaining: number
}

export interface RecoveredMessage extends LeaseMessage {
  readonly remaining: number
}

export interface LostMessage extends LeaseMessage {
  readonly reason: string
  readonly lost: LeaseLost
  readonly held?: number | undefined
}

export interface ReleasedMessage extends LeaseMessage {
  readonly end: 'released' | 'handed-off'
  readonly held?: number | undefined
}

export interface WaitingMessage extends LeaseMessage {
  readonly waiting: boolean
}

export interface AcquireMessage extends LeaseMessage {
  readonly outcome?: string | undefined
  readonly fencingToken?: bigint | undefined
  readonly error?: unknown
}

export interface RunMessage extends LeaseMessage {
  readonly fencingToken?: bigint | undefined
  readonly outcome?: string | undefined
  readonly error?: unknown
}

export interface StoreMessage {
  readonly leaseName?: string | undefined
  readonly owner?: string | undefined
  readonly store?: string | undefined
  readonly operation: string
  readonly leases: number
  readonly outcome?: string | undefined
  readonly error?: unknown
}

export interface GuardRejectedMessage {
  readonly guard: string
  readonly store?: string | undefined
}

export interface StallMessage {
  readonly lateness: number
}

export interface SelfFenceMessage {
  readonly kind: string
}

export interface ElectedMessage {
  readonly election: string
  readonly owner: string
}

export interface TickMessage {
  readonly schedule: string
  readonly outcome: string
  readonly lag?: number | undefined
}

export interface PermitMessage {
  readonly semaphore: string
  readonly held: boolean
  readonly permits: number
}

export interface PartitionMessage {
  readonly group: string
  readonly owner: string
  readonly partition: number
  readonly state: 'held' | 'released' | 'lost'
}

export interface PartitionsMessage {
  readonly group: string
  readonly owner: string
  readonly wanted: number
  readonly held: number
  readonly unowned: number
}
