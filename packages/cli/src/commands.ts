import { type Command, command } from './command.js'
import {
  advise,
  breakCommand,
  completion,
  config,
  durations,
  list,
  migrate,
  release,
  run,
  status,
  verify,
  watch,
} from './declarations.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  command(run, async () => (await import('./commands/run.js')).runCommand),
  command(status, async () => (await import('./commands/status.js')).showStatus),
  command(list, async () => (await import('./commands/list.js')).listAll),
  command(watch, async () => (await import('./commands/watch.js')).watchOne),
  command(breakCommand, async () => (await import('./commands/break.js')).breakOne),
  command(release, async () => (await import('./commands/release.js')).releaseOne),
  command(verify, async () => (await import('./commands/verify.js')).verifyStore),
  command(migrate, async () => (await import('./commands/migrate.js')).migrateStore),
  command(config, async () => (await import('./commands/config.js')).printConfig),
  command(durations, async () => (await import('./commands/durations.js')).printDurations),
  command(advise, async () => (await import('./commands/advise.js')).printAdvice),
  command(completion, async () => (await import('./commands/completion.js')).printCompletion),
]
