/** Four processes contend for one lease; its holders are killed, stopped and ended. Exits 0 if every figure holds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fleet, type WorkerProcess } from './fleet.js'
import { machineNow } from './machine-clock.js'
import { summarise, type Takeover, toText } from './summary.js'
import { Timeline } from './timeline.js'

const NAMES = ['anna', 'berta', 'carla', 'doris']

/** Longer than the ttl of the lease, in milliseconds. */
const STOPPED_FOR = 4_500

const folder = mkdtempSync(join(tmpdir(), 'leasehold-failover-'))
const fleet = new Fleet(NAMES, folder)
const timeline = new Timeline(fleet, process.stdout, machineNow)
const takeovers: Takeover[] = []
const tally = { sent: 0, refused: 0, accepted: 0, foundItselfLost: false }

async function killTheHolder(): Promise<void> {
  const { holder } = fleet
  const granted = fleet.hears('granted')
  const endedAt = machineNow()
  holder.signal('SIGKILL', 'killed')
  timeline.tell(`SIGKILL to ${holder.name}, the holder: it cannot give its lease back, so the ttl has to run out`)
  await takenOver('SIGKILL', holder, endedAt, granted)
}

async function stopTheHolder(): Promise<void> {
  const { holder } = fleet
  const granted = fleet.hears('granted')
  const endedAt = machineNow()
  holder.stop()
  timeline.tell(`SIGSTOP to ${holder.name}, the holder, for longer than its ttl: it does not notice anything`)
  await takenOver('SIGSTOP', holder, endedAt, granted)
  await pause(Math.max(0, endedAt + STOPPED_FOR - machineNow()))
  const lost = fleet.hears('lost', holder)
  const lateWrite = fleet.hears('late-write', holder)
  holder.signal('SIGCONT', 'running')
  const { report } = await lost
  tally.foundItselfLost = !report.heldWhenLooked
  timeline.tell(`SIGCONT: ${holder.name} finds its lease ${report.reason}, and stops its worker before it writes`)
  const { refused, token } = (await lateWrite).report
  timeline.tell(`${holder.name} writes all the same, under token ${token}: ${refused ? 'refused' : 'ACCEPTED'}`)
}

async function endTheHolder(): Promise<void> {
  const { holder } = fleet
  const granted = fleet.hears('granted')
  const releasing = fleet.hears('releasing', holder)
  holder.signal('SIGTERM', 'ended')
  timeline.tell(`SIGTERM to ${holder.name}, the holder: it stops its worker and releases the lease`)
  await takenOver('release', holder, (await releasing).report.at, granted)
}

async function takenOver(
  cause: Takeover['cause'],
  from: WorkerProcess,
  endedAt: number,
  granted: ReturnType<typeof fleet.hears<'granted'>>,
): Promise<void> {
  const { worker, report } = await granted
  takeovers.push({ cause, from: from.name, to: worker.name, endedAt, grantedAt: report.at })
  const latency = (report.at - endedAt).toFixed(1)
  timeline.tell(`${worker.name} takes over ${latency} ms later, with token ${report.token}`)
}

async function runScript(): Promise<void> {
  const first = await fleet.hears('granted')
  timeline.tell(`${first.worker.name} is the first to be granted the lease, with token ${first.report.token}`)
  await pause(2_000)
  await killTheHolder()
  await pause(1_500)
  await stopTheHolder()
  await pause(1_500)
  await endTheHolder()
  await pause(1_000)
}

fleet.onReport((_, report) => {
  if (report.type === 'late-write') tally[report.refused ? 'refused' : 'accepted'] += 1
})
const entries = setInterval(() => {
  tally.sent += 1
  fleet.sendToAll({ type: 'entry', id: tally.sent })
}, 50)
const redraw = setInterval(() => timeline.draw(), 100)
const log = setInterval(() => timeline.log(), 1_000)
process.once('SIGINT', () => void fleet.end('SIGKILL').then(() => process.exit(130)))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

try {
  await runScript()
  await fleet.end('SIGTERM')
  const { refused: lateWritesRefused, accepted: lateWritesAccepted, foundItselfLost } = tally
  const seen = { takeovers, lateWritesRefused, lateWritesAccepted, foundItselfLost }
  const figures = summarise(folder, NAMES, seen)
  for (const timer of [entries, redraw, log]) clearInterval(timer)
  process.stdout.write(`\nSummary\n${toText(figures)}\n`)
  process.exitCode = figures.every(({ holds }) => holds) ? 0 : 1
} finally {
  for (const timer of [entries, redraw, log]) clearInterval(timer)
  await fleet.end('SIGKILL')
}
