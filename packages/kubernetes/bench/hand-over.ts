/** How soon a waiter notices a release, over the test API server. Prints a table, and fails if a bound is exceeded. */
import { createLease } from '@leasehold/core'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { TestApiServer } from '../test/support/api-server/test-api-server.js'
import { kubeConfigFor } from '../test/support/kube-config-for.js'

const ROUNDS = 50
const LONGEST_MEDIAN = 200
const WATCH_UP = 100

const server = await TestApiServer.start()
const stores = await Promise.all(
  [1, 2].map(async () => new KubernetesLeaseStore({ kubeConfig: await kubeConfigFor(server.port) })),
)
const [one, other] = stores.map((store) => createLease(store, 'hand-over'))
if (one === undefined || other === undefined) throw new Error('there are two')

let [holder, waiter] = [one, other]
await holder.acquire()
const times: number[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  const granted = waiter.acquire({ wait: Number.POSITIVE_INFINITY })
  await new Promise((resolve) => setTimeout(resolve, WATCH_UP))
  const start = performance.now()
  await holder.release()
  await granted
  times.push(performance.now() - start)
  ;[holder, waiter] = [waiter, holder]
}
await holder.release()
for (const store of stores) await store.close()
await server.stop()

times.sort((a, b) => a - b)
const at = (part: number): number => times[Math.min(Math.floor(times.length * part), times.length - 1)] ?? Number.NaN
const [median, p99] = [at(0.5), at(0.99)]
console.log('| from a release to the next grant, by a watch | measured | bound |\n|---|---|---|')
console.log(`| median of ${ROUNDS} | ${median.toFixed(1)} ms | at most ${LONGEST_MEDIAN} ms |`)
console.log(`| p99 | ${p99.toFixed(1)} ms | |`)
if (median > LONGEST_MEDIAN) process.exitCode = 1
