/** Two members of a chat room, each at another instance; the instance with the room is killed. Exits 0 if both saw the same. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

interface Instance {
  readonly address: string
  readonly child: ChildProcess
}

interface Answer {
  readonly last: number
  readonly messages: readonly { readonly number: number; readonly from: string; readonly text: string }[]
}

/** For how long a request is repeated, in milliseconds. */
const LONGEST = 30_000

const folder = mkdtempSync(join(tmpdir(), 'leasehold-chat-room-'))

async function start(name: string): Promise<Instance> {
  const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), [folder, name])
  const [address] = await once(child, 'message')
  return { address, child }
}

/** Ends an instance in an orderly way. */
async function end({ child }: Instance): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Repeats a request until it has an answer: while the room moves, there is none for a moment. */
async function answerOf({ address }: Instance, query: Record<string, string>, method = 'GET'): Promise<Answer> {
  const signal = AbortSignal.timeout(LONGEST)
  for (;;) {
    const response = await fetch(`${address}/rooms/garden?${new URLSearchParams(query)}`, { method, signal })
    const answer = (await response.json()) as Answer
    if (response.ok) return answer
    await sleep(100, undefined, { signal })
  }
}

/** Says some texts, one after the other. */
async function say(from: string, instance: Instance, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await answerOf(instance, { from, text, key: randomUUID() }, 'POST')
}

async function read(instance: Instance): Promise<readonly string[]> {
  const { messages } = await answerOf(instance, { after: '0' })
  return messages.map(({ number, from, text }) => `${number} ${from}: ${text}`)
}

try {
  const [first, second] = await Promise.all([start('first'), start('second')])
  await say('ada', first, 'Hello', 'Is anybody here?')
  await say('bob', second, 'I am')
  const [atFirst, atSecond] = await Promise.all([read(first), read(second)])
  console.log(atFirst.join('\n'))
  console.log(`both instances show the same: ${atFirst.join() === atSecond.join()}`)

  const [third] = await Promise.all([start('third'), say('bob', second, 'What is new?')])
  first.child.kill('SIGKILL')
  await Promise.all([say('ada', third, 'My instance was killed', 'I am still here'), say('bob', second, 'So am I')])
  const [atThird, at2] = await Promise.all([read(third), read(second)])
  const numbers = atThird.map((line) => Number.parseInt(line, 10))
  console.log(`after a kill, ${atThird.length} messages, numbered ${numbers.at(0)} to ${numbers.at(-1)}`)
  const isSame = atThird.join() === at2.join() && atThird.length === 7
  console.log(`both instances show the same: ${isSame}`)
  await Promise.all([end(second), end(third)])
  process.exitCode = isSame ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
