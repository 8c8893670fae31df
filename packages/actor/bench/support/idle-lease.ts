import { type AcquireOptions, Lease, LeaseSettings } from '@leasehold/core'

const settings = new LeaseSettings({ name: 'bench', owner: 'bench' })

/** A lease with minimal cost, so that the measurement shows the guarded actor. */
export class IdleLease extends Lease {
  readonly #answer: 'grant' | 'deny' | 'none'
  #held = false

  constructor(answer: 'grant' | 'deny' | 'none') {
    super(settings)
    this.#answer = answer
  }

  override acquire(_options?: AcquireOptions): Promise<boolean> {
    if (this.#answer === 'none') return new Promise(() => {})
    this.#held = this.#answer === 'grant'
    return Promise.resolve(this.#held)
  }

  override release(): Promise<boolean> {
    this.#held = false
    return Promise.resolve(true)
  }

  override checkLease(): boolean {
    return this.#held
  }
}
