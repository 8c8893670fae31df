import type { AcquireOptions } from '@leasehold/core'

/** One call of `acquire` that waits for the outcome of an attempt. */
export class Caller {
  readonly promise: Promise<boolean>
  /** When it gives up. */
  readonly until: number
  readonly isPatient: boolean
  readonly options: AcquireOptions
  readonly #settled = new AbortController()
  #resolve: (isHeld: boolean) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(until: number, isPatient: boolean, options: AcquireOptions) {
    this.until = until
    this.isPatient = isPatient
    this.options = options
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Aborted when the caller has its outcome. */
  get settled(): AbortSignal {
    return this.#settled.signal
  }

  resolve(isHeld: boolean): void {
    this.#resolve(isHeld)
    this.#settled.abort()
  }

  reject(error: unknown): void {
    this.#reject(error)
    this.#settled.abort()
  }
}
