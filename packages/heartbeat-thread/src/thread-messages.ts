import type {
  Grant,
  LeaseRecord,
  LeaseStore,
  Metadata,
  SelfFenceMode,
  StoreLimits,
  TimeoutOptions,
} from '@leasehold/core'
import type { EventOf, TimeMemory, Wishes } from '@leasehold/core/internal'
import type { EffectWithErrors } from './portable-effect.js'
import type { PortableError } from './portable-error.js'

/** How long the end of the thread waits for leases that do not end, and then for stores, in milliseconds. */
export const STOP_TIMEOUT = 8_000

/** The data that the thread is started with. */
export interface ThreadData {
  readonly time: TimeMemory
  readonly slots: SharedArrayBuffer
  readonly deadlines: SharedArrayBuffer
}

/** A store, by the name that a configuration gives it. */
export interface StoreSpec {
  readonly leaseClass: string
  /** The file of the configuration, to which the path of a module is relative. */
  readonly file: string | undefined
  /** The path in the configuration, for errors. */
  readonly path: string
  /** The block of the lease, its keys in the camel case of the code. */
  readonly options: Readonly<Record<string, unknown>>
  readonly leaseName: string
  /** How long its user waits until it is open, in milliseconds. */
  readonly timeout: number
}

/** The settings of a lease. */
export interface LeaseSpec {
  readonly name: string
  readonly owner: string
  readonly timeouts: TimeoutOptions
  readonly maxHold: number
  readonly childGrace: number | undefined
  readonly selfFence: SelfFenceMode | undefined
  readonly unresponsiveAfter: number
}

/** The place of the `StoreCall` among the arguments of each method that is called from the other thread. `close` takes none. */
export const callPlaces = {
  acquire: 1,
  renew: 1,
  release: 1,
  read: 1,
  update: 2,
  change: 2,
  break: 2,
  withdraw: 2,
  renewMany: 1,
  list: 1,
  watch: 1,
  watchGrant: 1,
} as const satisfies Record<Exclude<keyof LeaseStore, 'limits' | 'closed' | 'kind' | 'close'>, number>

export type StoreMethod = keyof typeof callPlaces

/** The description of a store that was opened. */
export interface OpenedStore {
  readonly kind: string | undefined
  readonly limits: StoreLimits
  readonly methods: readonly StoreMethod[]
}

/** A caller of `acquire`. */
export interface ClaimSpec {
  readonly id: number
  /** In milliseconds; `undefined` for a caller that tries once. */
  readonly wait: number | undefined
  readonly wishes: Wishes
  /** The notice of a caller that preempts. */
  readonly period: number | undefined
}

/** The events of a lease that its user asks for. */
export type AskedOfGrant = EventOf<'release' | 'hand-off' | 'children-released' | 'update' | 'renew' | 'end'>

/** The methods of a lease in the thread that its user calls. */
export interface HostedMethods {
  /** `over`: the number of a grant whose validity is over for its user. */
  claim(claim: ClaimSpec, adopted: Grant | undefined, over: number | undefined): void
  unclaim(claim: number): void
  /** The answer to `onHolder`: the caller wants this grant of the holder broken. */
  judged(claim: number, grantId: string): void
  ask(number: number, event: AskedOfGrant): void
  /** The answer to the news of a grant whose callers have gone: each grant is used, or answered with this. */
  unwanted(number: number): void
  /** The loss of a self-fenced grant was reported, and the work under it has ended. */
  acknowledged(number: number): void
}

/** The methods of a lease of the user that the thread calls. */
export interface LinkedMethods {
  /** `number`: of the grant that it is about. */
  onNews(number: number, news: LeaseNews): void
  onSettled(claim: number, refusedFor: string | undefined, error: PortableError | undefined): void
  /** A caller that preempts is to be asked about this holder. */
  onHolder(claim: number, holder: LeaseRecord): void
}

/** From the user of the leases to the thread. Those with an `id` are answered. */
export type Request =
  | { readonly type: 'open'; readonly id: number; readonly store: number; readonly spec: StoreSpec }
  | { readonly type: 'close'; readonly id: number; readonly store: number }
  | {
      readonly type: 'call'
      readonly id: number
      readonly store: number
      readonly method: StoreMethod
      readonly args: readonly unknown[]
      readonly timeout: number
    }
  | { readonly type: 'abort'; readonly id: number }
  | {
      readonly type: 'lease'
      readonly lease: number
      readonly store: number
      readonly slot: number
      readonly spec: LeaseSpec
    }
  | { readonly type: 'forget'; readonly lease: number }
  /** The user holds nothing, and no caller waits any more. */
  | { readonly type: 'abandon'; readonly id: number; readonly lease: number }
  | {
      readonly type: 'to-hosted'
      readonly lease: number
      readonly method: keyof HostedMethods
      readonly args: readonly unknown[]
    }
  /** Ends all leases and closes the stores; then the thread ends. */
  | { readonly type: 'stop' }

/** What happened to a lease, its errors as messages carry them. */
export type LeaseNews =
  | {
      readonly type: 'granted'
      readonly grant: Grant
      readonly previous: Metadata | undefined
      readonly claims: readonly number[]
      /** Of the deadline of a self-fenced grant. */
      readonly place: number | undefined
    }
  /** A caller came when the grant was held already. */
  | { readonly type: 'joined'; readonly claim: number }
  | EffectWithErrors

/** From the thread to the user of the leases. */
export type Reply =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: PortableError }
  /** One value of a store's iterable. */
  | { readonly type: 'item'; readonly id: number; readonly value: unknown }
  | { readonly type: 'store-closed'; readonly store: number }
  | {
      readonly type: 'to-linked'
      readonly lease: number
      readonly method: keyof LinkedMethods
      readonly args: readonly unknown[]
    }
