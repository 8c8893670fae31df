import { type LeaseSettings, StoreLease } from '@leasehold/core'
import { casStore } from '@leasehold/core/store'
import { s3Register } from '@leasehold/testing/s3-register'

/** Over objects in the bucket at the address that the configuration names. */
export function s3Lease(settings: LeaseSettings): StoreLease {
  return new StoreLease(settings, casStore(s3Register(String(settings.options.bucket))))
}
