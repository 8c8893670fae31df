import { setTimeout as sleep } from 'node:timers/promises'
import { StoreLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

/** How much later than the grant its answer is, in milliseconds. */
const LATER = 1_500

/** The store that commands use without options; its grants are answered late. */
class LateStore extends LocalLeaseStore {
  async acquire(request, call) {
    const outcome = await super.acquire(request, call)
    await sleep(LATER)
    return outcome
  }
}

export function lateLease(settings) {
  return new StoreLease(settings, new LateStore({ folder: `${process.env.XDG_STATE_HOME}/leasehold/leases` }))
}
