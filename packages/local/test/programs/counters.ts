/** `counters.cjs FOLDER COUNT`: counts each register up `COUNT` times, and prints the count. */
import { LeaseFolder } from '../../src/lease-folder.js'
import { RegisterLog } from '../../src/register-log.js'

const [folder = '', count = '0'] = process.argv.slice(2)
/** So small that the log is rewritten all the time. */
const GROWTH = 3_000

process.stdin.on('end', () => process.exit()).resume()

const log = new RegisterLog<number, number>({
  folder: new LeaseFolder({ folder }),
  file: 'counters.mdb',
  durable: false,
  growth: GROWTH,
  kind: { apply: (value = 0, change) => value + change, whole: (value) => value },
})

function countUp(counted: number): void {
  for (const key of ['a', 'b', 'c']) {
    do log.refresh()
    while (log.attempt([{ key, change: 1 }]).accepted[0] !== true)
  }
  process.stdout.write(`${JSON.stringify({ counted })}\n`)
  if (counted < Number(count)) setImmediate(countUp, counted + 1)
  else process.stdin.pause()
}

countUp(1)
