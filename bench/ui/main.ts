/**
 * `npm run bench -- ui [LEASES] [CHANGES] [SECONDS] [STREAMS]`: the page of `@leasehold/ui` with 10,000 leases of which 200 change
 * in a second.
 * 1. The time of a frame while the list scrolls, for 20 s, in Debian's chromium without a GPU. The limit of the frame rate is
 *    off, so that the time between two frames is what the page needs for one.
 * 2. The memory of the server with 1,000 open streams, of which 500 do not read.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { launchChromium } from '@leasehold/testing/launch-chromium'
import type { Page } from 'playwright-core'
import { Child } from '../support/child.js'
import { busyMachine } from '../support/machine.js'
import type { Memory } from '../support/memory.js'
import { shown, table } from '../support/table.js'
import { type Frames, framesWhileScrolling } from './frames.js'
import { openPageServer } from './page-server.js'
import { openReaders } from './readers.js'

const [leases = 10_000, changes = 200, seconds = 20, streams = 1_000] = process.argv.slice(2).map(Number)

/** The most that a frame may take at p95, in milliseconds. */
const BOUND = 16

/** Ends a run that hangs, in milliseconds. */
const LIMIT = 300_000

const token = 'a-token-of-the-bench'
const serverFile = new URL('page-server.ts', import.meta.url).href
const readersFile = new URL('readers.ts', import.meta.url).href

async function measureFrames(url: string): Promise<Frames> {
  const browser = await launchChromium(['--disable-frame-rate-limit', '--disable-gpu-vsync'])
  try {
    const page: Page = await browser.newPage({ viewport: { width: 1_600, height: 900 } })
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(`${url}#token=${token}`)
    // All rows are there when the list is as high as all of them.
    const heights = '[document.scrollingElement, ...document.querySelectorAll("*")].map((each) => each.scrollHeight)'
    while (Math.max(...(await page.evaluate<number[]>(heights))) < leases * 15) await sleep(200)
    await sleep(2_000)
    const frames = await framesWhileScrolling(page, seconds)
    if (faults.length > 0) throw new Error(faults.join('\n'))
    return frames
  } finally {
    await browser.close()
  }
}

async function measureStreams(server: { ask(method: 'memory'): Promise<Memory> }, port: number) {
  const before = await server.ask('memory')
  const half = Math.floor(streams / 2)
  const readers = await Child.start(readersFile, openReaders, { port, token, reading: streams - half, deaf: half })
  const after: Memory[] = []
  for (let look = 0; look < 2; look += 1) {
    await sleep(seconds * 1_000)
    after.push(await server.ask('memory'))
  }
  const [received, ended] = [await readers.ask('received'), await readers.ask('ended')]
  await readers.kill()
  return { before, after, received, ended }
}

console.log(busyMachine('chromium'))
setTimeout(() => {
  console.error('The run did not end in time.')
  process.exit(1)
}, LIMIT).unref()
const server = await Child.start(serverFile, openPageServer, { leases, changes, token })
try {
  const port = await server.ask('port')
  const began = await server.ask('processor')
  const frames = await measureFrames(`http://127.0.0.1:${port}/`)
  const used = (await server.ask('processor')) - began
  console.log(`\n## ${leases} leases, ${changes} changes a second, ${seconds} s of scrolling (${frames.scrolled})\n`)
  const { count, p50, p95, p99, longest } = frames
  console.log(
    table('frames | p50 | p95 | p99 | longest', [
      [`${count}`, ...[p50, p95, p99, longest].map((time) => `${shown(time)} ms`)],
    ]),
  )
  console.log(`\nProcessor time of the server meanwhile, with its leases: ${shown(used / 1_000)} s`)
  const { before, after, received, ended } = await measureStreams(server, port)
  const mb = (bytes: number) => `${shown(bytes / 1e6)} MB`
  console.log(`\n## ${streams} open streams, of which ${Math.floor(streams / 2)} do not read\n`)
  console.log(
    table('when | heap | resident', [
      ['without streams', mb(before.heap), mb(before.resident)],
      ...after.map(({ heap, resident }, look) => [`after ${(look + 1) * seconds} s`, mb(heap), mb(resident)]),
    ]),
  )
  console.log(`\nThe others read ${mb(received)}. The server ended ${ended} streams.`)
  if (!(p95 < BOUND)) {
    console.error(`Goal not reached: a frame takes ${shown(p95)} ms at p95, not less than ${BOUND} ms`)
    process.exitCode = 1
  }
} finally {
  await server.kill()
}
