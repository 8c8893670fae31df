import { readdirSync, readFileSync } from 'node:fs'

/** In milliseconds; 100 ticks a second on every Linux that Node runs on. */
const TICK = 10

/** The processor time of this process so far, in milliseconds. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * The processor time of a server on this machine, in milliseconds: of its main process, of its children that have exited,
 * and of those that run, without one of them.
 */
export function processorTimeOf(main: number, without?: number): number {
  const [user = 0, system = 0] = statOf(main).slice(13, 15).map(Number)
  const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const running = [main, ...children].filter((pid) => pid !== without)
  return running.reduce((sum, pid) => sum + processorTimeOfThreads(pid), (user + system) * TICK)
}

/** The fields after the name of the program, which may contain spaces and stands in parentheses. */
export function statOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
}

/** Of the threads that run, in milliseconds; 0 of a process that has exited. */
function processorTimeOfThreads(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.reduce((sum, thread) => {
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      return sum + Number(nanoseconds) / 1e6
    }, 0)
  } catch {
    return 0
  }
}
