import type { LeaseStore } from '@leasehold/core'
import type { GrantToKeep, TimeMemory } from '@leasehold/core/internal'
import type { RenewOutcome, StoreLimits } from '@leasehold/core/store'
import type { DeadlineSpec } from './kept-deadline.js'
import type { PortableError } from './portable-error.js'

/** How long the end of the thread waits for leases, and then for stores, that do not end, in milliseconds. */
export const STOP_TIMEOUT = 8_000

/** The data that the thread is started with. */
export interface ThreadData {
  readonly time: TimeMemory
  readonly slots: SharedArrayBuffer
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

/** A grant to be kept. Instants are on the shared time; see `GrantToKeep` of core. */
export interface KeepSpec extends Omit<GrantToKeep, 'deadline'> {
  readonly slot: number
  /** For how long the grant is renewed while its user shows no sign of life, in milliseconds. */
  readonly unresponsiveAfter: number
  readonly fence: DeadlineSpec | undefined
}

/** The place of the `StoreCall` among the arguments of each method that is called from the other thread. `close` takes none. */
export const callPlaces = {
  acquire: 1,
  renew: 1,
  release: 1,
  read: 1,
  update: 2,
  raiseToken: 2,
  change: 2,
  break: 2,
  withdraw: 2,
  renewMany: 1,
  list: 1,
  watch: 1,
  watchGrant: 1,
  probe: 0,
} as const satisfies Record<Exclude<keyof LeaseStore, 'limits' | 'closed' | 'kind' | 'close'>, number>

export type StoreMethod = keyof typeof callPlaces

/** The description of a store that was opened. */
export interface OpenedStore {
  readonly kind: string | undefined
  readonly limits: StoreLimits
  readonly methods: readonly StoreMethod[]
}

/** The answer of a store that has refused a heartbeat. */
export type Refusal = Extract<RenewOutcome, { readonly renewed: false }>

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
  | { readonly type: 'keep'; readonly store: number; readonly spec: KeepSpec }
  | { readonly type: 'unkeep'; readonly id: number; readonly slot: number }
  /** Closes the stores; then the thread ends. */
  | { readonly type: 'stop' }

/** From the thread to the user of the leases. */
export type Reply =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: PortableError }
  /** One value of a store's iterable. */
  | { readonly type: 'item'; readonly id: number; readonly value: unknown }
  | { readonly type: 'store-closed'; readonly store: number }
  /** The store has refused a grant to the thread. */
  | { readonly type: 'refused'; readonly slot: number; readonly outcome: Refusal }
