/** Two processes of a bot, without a lease and with one. One is asked to end, and the next is killed. Exits 0 if it went well. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type FakeTelegram, startFakeTelegram } from './fake-telegram.js'

/** The longest time that a step may take, in milliseconds. */
const LONGEST = 20_000

interface Instance {
  readonly name: string
  readonly health: string
  readonly child: ChildProcess
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-telegram-'))
const children: ChildProcess[] = []
const handled: string[] = []

async function start(how: 'alone' | 'elected', name: string, telegram: FakeTelegram): Promise<Instance> {
  const program = fileURLToPath(new URL('./instance.ts', import.meta.url))
  const child = fork(program, [how, folder, name, telegram.address])
  children.push(child)
  const [{ health }] = (await once(child, 'message')) as [{ readonly health: string }]
  child.on('message', (message: { readonly handled: string }) => handled.push(`${message.handled} by ${name}`))
  return { name, health, child }
}

async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + LONGEST; Date.now() < end; await pause(20)) if (await isTrue()) return
  throw new Error(`after ${LONGEST / 1_000} s: not ${what}`)
}

async function healthOf({ health }: Instance): Promise<Record<string, unknown>> {
  return (await (await fetch(health)).json()) as Record<string, unknown>
}

async function end({ child }: Instance, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Sends an update, and waits until it is handled and the bot polls again: what it has handled is confirmed then. */
async function say(text: string, telegram: FakeTelegram): Promise<void> {
  telegram.send(text)
  await until(`'${text}' handled`, () => handled.some((line) => line.startsWith(text)) && telegram.pending === 0)
}

async function withoutLease(): Promise<void> {
  const telegram = await startFakeTelegram()
  const first = await start('alone', 'anna', telegram)
  await until('anna polls', () => telegram.poller === 'anna')
  const second = await start('alone', 'berta', telegram)
  await until('berta polls', () => telegram.poller === 'berta')
  await until('anna has stopped', async () => (await healthOf(first)).isDeaf === true)
  console.log(
    `without a lease: ${telegram.conflicts} conflict; anna polls no more, healthy: ${(await healthOf(first)).healthy}`,
  )
  await end(first, 'SIGKILL')
  await end(second, 'SIGKILL')
  telegram.close()
}

async function withLease(): Promise<void> {
  const telegram = await startFakeTelegram()
  const first = await start('elected', 'anna', telegram)
  await until('anna polls', () => telegram.poller === 'anna')
  const second = await start('elected', 'berta', telegram)
  const { healthy, role } = await healthOf(second)
  console.log(`with a lease: anna polls; berta ${role}, healthy: ${healthy}`)
  await say('one', telegram)
  await end(first, 'SIGTERM')
  await say('two', telegram)
  const third = await start('elected', 'carla', telegram)
  await until('berta polls', () => telegram.poller === 'berta')
  await end(second, 'SIGKILL')
  await say('three', telegram)
  console.log(handled.join(', '))
  console.log(`conflicts: ${telegram.conflicts}`)
  await end(third, 'SIGTERM')
  telegram.close()
  if (telegram.conflicts > 0) process.exitCode = 1
}

try {
  await withoutLease()
  await withLease()
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
