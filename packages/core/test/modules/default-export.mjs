// biome-ignore lint/style/noDefaultExport: users may have one, though this house has none.
export { memoryLease as default } from '@leasehold/core'
