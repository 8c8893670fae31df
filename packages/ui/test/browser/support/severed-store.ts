import type { LeaseStore } from '@leasehold/core'
import { type StoreCall, viewOf } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'

const requests = [
  ...(['acquire', 'renew', 'renewMany', 'release', 'read'] as const),
  ...(['update', 'raiseToken', 'change', 'break', 'withdraw'] as const),
]
const streams = ['list', 'watch', 'watchGrant'] as const

/** A way to a store that can be cut: all calls then hang until they are aborted, as those of a process that was killed. */
export class SeveredStore {
  readonly store: LeaseStore
  #isCut = false

  constructor(store: LeaseStore) {
    type Method = (...args: unknown[]) => unknown
    const request =
      (own: Method) =>
      async (...args: unknown[]) =>
        this.#isCut ? await hang(args) : await own(...args)
    const stream =
      (own: Method) =>
      (...args: unknown[]) =>
        this.#isCut ? silence(args) : own(...args)
    const overrides = [...requests.map((name) => [name, request]), ...streams.map((name) => [name, stream])]
    this.store = viewOf(store, Object.fromEntries(overrides))
  }

  cut(): void {
    this.#isCut = true
  }

  mend(): void {
    this.#isCut = false
  }
}

function hang(args: readonly unknown[]): Promise<never> {
  const call = args.find((each): each is StoreCall => typeof (each as StoreCall | undefined)?.onAbort === 'function')
  const never = new Promise<never>(() => {})
  return call === undefined ? never : untilAborted(never, call)
}

async function* silence(args: readonly unknown[]): AsyncGenerator<never> {
  yield await hang(args)
}
