export { S3Guard } from './s3-guard.js'
export { s3Lease } from './s3-lease.js'
export { S3LeaseStore, type S3LeaseStoreOptions } from './s3-lease-store.js'
export { type S3Options, s3Options } from './s3-options.js'
