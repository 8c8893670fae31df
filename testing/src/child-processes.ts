import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The processes that a process has started and that still run. */
export function childProcesses(pid: number): number[] {
  try {
    return numbersIn(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  } catch {
    // Not Linux, or it has exited.
    return numbersFromPgrep(pid)
  }
}

function numbersFromPgrep(pid: number): number[] {
  try {
    return numbersIn(execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }))
  } catch {
    return []
  }
}

function numbersIn(text: string): number[] {
  return text.split(/\s+/).filter(Boolean).map(Number)
}
