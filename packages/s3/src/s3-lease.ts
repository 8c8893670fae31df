import { providerFactory } from '@leasehold/core/store-kit'
import { S3LeaseStore } from './s3-lease-store.js'
import { s3Options } from './s3-options.js'

/** The factory of leases that `lease-class = "@leasehold/s3"` names. */
export const s3Lease = providerFactory(s3Options, (values, { clock }) => new S3LeaseStore({ ...values, clock }))
