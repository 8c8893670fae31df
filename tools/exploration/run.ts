import { type Bounds, explore, type SearchOptions } from '@leasehold/simulator/explore'

// Refused and failed calls are a part of most states, and nobody reads their stacks.
Error.stackTraceLimit = 0

/** Explores within the bounds that are given as JSON, and prints the figures and the schedule that breaks a rule. */
const [bounds = '{}', options = '{}'] = process.argv.slice(2)
const { mostStates, longest, reduces, progress }: SearchOptions = JSON.parse(options)
const exploration = explore(JSON.parse(bounds) as Partial<Bounds>, {
  ...(mostStates === undefined ? {} : { mostStates }),
  ...(longest === undefined ? {} : { longest }),
  ...(reduces === undefined ? {} : { reduces }),
  ...(progress === undefined ? {} : { progress }),
  onProgress: ({ states, depth, duration }) => {
    if (states % 1_000_000 < 1_000) console.log(`${states} states, ${depth} steps deep, ${seconds(duration)} s`)
  },
})
const { states, steps, depth, duration, isComplete, bytes, found, schedule } = exploration
const { user, system } = process.cpuUsage()
/** Processor time, in milliseconds: others may use the machine. */
const used = (user + system) / 1_000
console.log(JSON.stringify(exploration.bounds))
console.log(
  `${states} states, ${steps} steps, ${depth} steps deep, ${isComplete ? 'all within the bounds' : 'not all within the bounds'}; ` +
    `${seconds(duration)} s, ${seconds(used)} s of processor time, ${Math.round(states / (used / 1_000))} states in a second of it, ` +
    `${Math.round(bytes / 1e6)} MB for states`,
)
if (schedule === undefined) console.log('no rule is broken')
else console.log(`\n${schedule}`)
process.exitCode = found === undefined ? 0 : 1

function seconds(duration: number): number {
  return Math.round(duration / 1_000)
}
