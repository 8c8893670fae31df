import { LocalLeaseStore } from '@leasehold/local'
import { SingleFlight } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })
const flight = new SingleFlight(store, { name: 'rates' })

/** Your work: a request to a service that counts each one. */
async function loadRates() {
  console.log(`process ${process.pid} loads the rates`)
  return { usd: 1.08 }
}

// Every instance does this, as often as it likes. One of them loads the rates, at most once a minute.
const rates = await flight.get('rates', () => loadRates(), { freshFor: 60_000 })
console.log(`process ${process.pid}: a euro is ${rates.usd} dollars`)
await store.close()
