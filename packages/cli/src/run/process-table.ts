import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * The variable in the environment of a command that marks its processes, wherever they go. A command under a command has the
 * ids of both, separated by a colon.
 */
export const runIdVariable = 'LEASEHOLD_RUN_ID'

/** A process that is alive. A zombie is not: it has ended, and only its exit status is left. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** 0 where the system does not show it. */
  readonly session: number
  /** Distinguishes it from a later process with the same number. */
  readonly started: string
  /** Whether its environment has the id of the run. */
  readonly isMarked: boolean
}

/** The position of the start among the fields after the name of the program. */
const STARTED = 19

/** The marks by which the processes of a command are found. */
export interface RunMark {
  readonly runId: string
  /** When the process that started the command was started itself, as `ProcessEntry.started`. */
  readonly since: string
}

/** The value of the variable for a command of this process. */
export function runIdsWith(runId: string, outer: string | undefined): string {
  return outer === undefined || outer === '' ? runId : `${outer}:${runId}`
}

/** All processes that are alive, and whether they have the id of the run in the environment that they were started with. */
export function readProcesses(mark: RunMark): readonly ProcessEntry[] {
  return process.platform === 'linux' ? processesOfProc(mark) : processesOfPs(mark.runId, '-E')
}

/** When this process was started; empty where the system does not show it. */
export function startOfThisProcess(): string {
  return statusOf(process.pid)?.started ?? ''
}

function processesOfProc({ runId, since }: RunMark): readonly ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    const status = Number.isInteger(pid) ? statusOf(pid) : undefined
    if (status === undefined) return []
    // The environment of older processes need not be read.
    const isMarked = Number(status.started) >= Number(since) && hasRunId(environmentOf(pid), runId, '\0')
    return [{ pid, ...status, isMarked }]
  })
}

/** `undefined` for a process that has ended. */
function statusOf(pid: number): Omit<ProcessEntry, 'pid' | 'isMarked'> | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses, and may contain any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state, parent, group, session] = fields
    if (state === 'Z' || state === 'X') return undefined
    return { parent: Number(parent), group: Number(group), session: Number(session), started: fields[STARTED] ?? '' }
  } catch {
    return undefined
  }
}

/** Empty for a process of another user. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** Reads the table with `ps`, where there is no `/proc`. `environment`: its option that shows the environment. */
export function processesOfPs(runId: string, environment: string): readonly ProcessEntry[] {
  const columns = ['pid=', 'ppid=', 'pgid=', 'stat=', 'command='].flatMap((column) => ['-o', column])
  const { stdout } = spawnSync('ps', ['-A', '-ww', environment, ...columns], {
    encoding: 'latin1',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, parent, group, state, rest = ''] = /^ *(\d+) +(\d+) +(\d+) +(\S+) *(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith('Z')) return []
    const entry = { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, started: '' }
    return [{ ...entry, isMarked: hasRunId(rest, runId, ' ') }]
  })
}

function hasRunId(environment: string, runId: string, separator: string): boolean {
  const text = `${separator}${environment}`
  const start = text.indexOf(`${separator}${runIdVariable}=`)
  if (start < 0) return false
  const end = text.indexOf(separator, start + 1)
  return text.slice(start, end < 0 ? undefined : end).includes(runId)
}
