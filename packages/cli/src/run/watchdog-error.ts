/** The code of an error of the system, and how to remove its cause. */
const remedies: Readonly<Record<string, string>> = {
  EAGAIN: 'raise the limit of processes (ulimit -u, TasksMax= of systemd, the pids limit of a container)',
  EMFILE: 'raise the limit of open files (ulimit -n)',
  ENFILE: 'raise the limit of open files of the system (fs.file-max)',
  ENOMEM: 'free some memory, or raise its limit',
}

/** No watchdog watches the command, so the command was not started. The message says why, and how to correct it. */
export class WatchdogError extends Error {
  override readonly name = 'WatchdogError'

  constructor(cause: Error) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const remedy = Object.hasOwn(remedies, code) ? `: ${remedies[code]}` : ''
    super(`the watchdog of the command cannot be started (${cause.message}), so the command was not started${remedy}`, {
      cause,
    })
  }
}
