// For @leasehold/sharding of the same version. Nothing here is a part of the API.
export { LeaseFolder } from './lease-folder.js'
