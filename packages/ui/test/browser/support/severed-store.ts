import type { LeaseStore } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'

/** A way to a store that can be cut: all calls then hang until they are aborted, as those of a process that was killed. */
export class SeveredStore {
  readonly store: LeaseStore
  #isCut = false

  constructor(store: LeaseStore) {
    this.store = new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (!this.#isCut || key === 'close') return value.apply(target, args)
          const call = args.find((each): each is StoreCall => Object(each).signal instanceof AbortSignal)
          return key === 'list' || key === 'watch' || key === 'watchGrant' ? silence(call) : hang(call)
        }
      },
    })
  }

  cut(): void {
    this.#isCut = true
  }

  mend(): void {
    this.#isCut = false
  }
}

function hang(call: StoreCall | undefined): Promise<never> {
  const never = new Promise<never>(() => {})
  return call === undefined ? never : untilAborted(never, call)
}

async function* silence(call: StoreCall | undefined): AsyncGenerator<never> {
  yield await hang(call)
}
