import type { PortableError } from '../../src/portable-error.js'
import type { OpenedStore, StoreMethod } from '../../src/thread-messages.js'

/** From a relay in the thread of a test to the store that it stands for. */
export type RelayRequest =
  | {
      readonly type: 'call'
      readonly id: string
      readonly store: string
      readonly method: StoreMethod
      readonly args: readonly unknown[]
      readonly timeout: number
    }
  | { readonly type: 'abort'; readonly id: string }

export type RelayReply =
  | { readonly type: 'item'; readonly id: string; readonly value: unknown }
  | { readonly type: 'answer'; readonly id: string; readonly value: unknown }
  | { readonly type: 'error'; readonly id: string; readonly error: PortableError }
  | { readonly type: 'closed'; readonly store: string }

/** The options of a relay. */
export interface RelayOptions {
  readonly channel: string
  readonly store: string
  readonly opened: OpenedStore
}
