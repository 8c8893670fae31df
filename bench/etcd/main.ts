/** Ours, the Lock of etcd3 and etcdctl lock on one etcd in one run. */
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { type NumberReport, runBenchmark } from '../support/benchmark.js'
import { machine } from '../support/machine.js'
import { reportCycles, reportHandOver, reportHolding } from './numbers.js'

const numbers = {
  cycles: reportCycles,
  'hand-over': async (server: EtcdServer) => {
    const reports: NumberReport[] = []
    for (const waiters of [1, 10, 100]) reports.push(await reportHandOver(server, waiters))
    return reports
  },
  holding: reportHolding,
}

const page = { name: 'benchmarks-etcd', template: new URL('page.md', import.meta.url) }

await runBenchmark(numbers, [page], async () => {
  const server = await EtcdServer.start()
  const version = (await server.ctl('version')).split('\n')[0]?.replace(/^\D+/, '')
  return { server, machine: machine(`etcd ${version}, one member without fsync`), stop: () => server.stop() }
})
