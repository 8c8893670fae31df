import { contenderOf, contendersFor } from './contenders/contenders.js'
import { RedisServer } from '../test/support/redis-server.js'
const server = await RedisServer.start()
const use = { purpose: 'cycles', role: 'holder', ttl: 30000, waiters: 0 } as const
const ids = ['leasehold-default', 'redis-semaphore-default', 'redis-semaphore-tuned']
for (const inFlight of process.argv[2] ? [Number(process.argv[2])] : [1, 64, 512]) {
  const racers = ids.map((id) => { const s = contenderOf(id).open(server.port, use); return { id, lanes: Array.from({ length: inFlight }, (_, i) => s.cycle(`q-${id}-${i}`)), rates: [] as number[], cpu: [] as number[] } })
  for (let round = 0; round <= 7; round++) for (const r of racers) {

    const start = performance.now(), cpu = process.cpuUsage(); let n = 0
    await Promise.all(r.lanes.map(async (c) => { while (performance.now() - start < 1000) { await c(); n++ } }))
    const u = process.cpuUsage(cpu)
    if (round) { r.rates.push(n / (performance.now() - start) * 1000); r.cpu.push((u.user + u.system) / n) }
  }
  const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!
  console.log(inFlight, racers.map((r) => `${r.id} ${Math.round(med(r.rates))}/s cpu ${med(r.cpu).toFixed(0)}us min ${r.cpu[0]!.toFixed(0)}`).join(' | '))
}
await server.stop(); setTimeout(() => process.exit(), 200)
