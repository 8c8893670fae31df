const { createLease } = require('@leasehold/core')
const { LocalLeaseStore } = require('@leasehold/local')

async function main() {
  const store = new LocalLeaseStore({ folder: 'leases' })
  const lease = createLease(store, 'mailbox')
  await lease.run(async () => console.log(`process ${process.pid} works`), { wait: Number.POSITIVE_INFINITY })
  await store.close()
}

main().catch(console.error)
