/**
 * `npm run bench -- sharding [--only local,remote,memory]`: how many messages a process handles and sends, and how much memory a
 * million entities need. `npm run bench -- sharding bank redis 600`: transfers between 100,000 accounts while processes are
 * killed, stopped and cut off for 600 s. `npm run bench -- sharding restart redis 60`: rolling restarts under load for 60 s.
 */
import type { ServerKind } from './access.js'
import { runBank } from './bank/run-bank.js'
import { runRestart } from './bank/run-restart.js'
import { runSpeed } from './speed.js'

const [program = '', kind = 'redis', time] = process.argv.slice(2)
const seconds = Number(time ?? 60)

if (program === 'bank' || program === 'restart') {
  if (kind !== 'redis' && kind !== 'postgres') throw new Error(`no such server: ${kind}; there are redis and postgres`)
  const run = program === 'bank' ? runBank : runRestart
  const { lines, failures } = await run(kind satisfies ServerKind, { seconds })
  for (const line of lines) console.log(line)
  for (const failure of failures) console.error(`Broken: ${failure}`)
  process.exit(failures.length === 0 ? 0 : 1)
}
await runSpeed()
