import { Lease } from '@leasehold/core'

export class AlwaysHeld extends Lease {
  acquire() {
    return Promise.resolve(true)
  }

  release() {
    return Promise.resolve(true)
  }

  checkLease() {
    return true
  }
}
