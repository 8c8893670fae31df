/** A process that is killed within a save: `crash-in-save.ts FOLDER STEP`. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [folder = '', step = ''] = process.argv.slice(2)
const { openSync, writeSync, fsyncSync, renameSync } = fs
/** The descriptor of the temporary file. */
let part = -1

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('this process goes on after SIGKILL')
}

Object.assign(fs, {
  openSync: (...args: Parameters<typeof openSync>) => {
    const isPart = String(args[0]).endsWith('.part')
    if (isPart && step === 'before the temporary file') die()
    const file = openSync(...args)
    if (isPart) part = file
    return file
  },
  writeSync: (file: number, data: Buffer, offset: number) => {
    if (file !== part || step !== 'in the middle of the write') return writeSync(file, data, offset)
    writeSync(file, data, offset, 20)
    return die()
  },
  fsyncSync: (file: number) => {
    if (file === part && step === 'before the flush') die()
    fsyncSync(file)
  },
  renameSync: (from: string, to: string) => {
    if (!from.endsWith('.part')) return renameSync(from, to)
    if (step === 'before the rename') die()
    renameSync(from, to)
    if (step === 'after the rename') die()
  },
})
syncBuiltinESMExports()

// After the change, so that it gets the changed functions.
const { fileState } = await import('@leasehold/sharding/local')
const state = fileState(folder)
await state.save('a', { snapshot: { text: 'new'.repeat(100) }, version: 2, handled: ['m2'] }, 2n)
process.stdout.write('saved')
