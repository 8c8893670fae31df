import { setTimeout as pause } from 'node:timers/promises'
import { MemoryLeaseStore } from '@leasehold/core'
import { createDownloader } from './download.js'

const store = new MemoryLeaseStore()
const running = new Set<string>()
/** How many downloads ran when each began, itself included. */
const together: number[] = []

async function download(file: string): Promise<void> {
  together.push(running.add(file).size)
  console.log(`begin ${file}`)
  await pause(50)
  running.delete(file)
}

// Two instances of a service share the semaphore.
const instances = [createDownloader(store, download), createDownloader(store, download)]
const files = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
await Promise.all(files.map((file, place) => instances[place % 2]?.start(file)))
console.log(`${files.length} files, at most ${Math.max(...together)} at a time`)
for (const instance of instances) await instance.stop()
await store.close()
