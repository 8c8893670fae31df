import type { LeaseStore } from '@leasehold/core'
import { MemoryLeaseStore } from '@leasehold/core'
import { LeaseUi } from '@leasehold/ui'

const store: LeaseStore = new MemoryLeaseStore()
const token = process.env.LEASES_TOKEN ?? 'of-the-test-of-this-example'

// #region next
const ui = new LeaseUi(store, { path: '/leases', token })

export const GET = ui.fetch
export const POST = ui.fetch
export const dynamic = 'force-dynamic'
// #endregion next
