import { type Command, command } from './command-declaration.js'
import * as declared from './declarations.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  command(declared.run, async () => (await import('./commands/run.js')).runCommand),
  command(declared.status, async () => (await import('./commands/status.js')).showStatus),
  command(declared.list, async () => (await import('./commands/list.js')).listAll),
  command(declared.watch, async () => (await import('./commands/watch.js')).watchOne),
  command(declared.breakCommand, async () => (await import('./commands/break.js')).breakOne),
  command(declared.release, async () => (await import('./commands/release.js')).releaseOne),
  command(declared.schedule, async () => (await import('./commands/schedule.js')).controlSchedule),
  command(declared.shards, async () => (await import('./commands/shards.js')).showShards),
  command(declared.ui, async () => (await import('./commands/ui.js')).showPage),
  command(declared.doctor, async () => (await import('./commands/doctor.js')).examineStore),
  command(declared.verify, async () => (await import('./commands/verify.js')).verifyStore),
  command(declared.migrate, async () => (await import('./commands/migrate.js')).migrateStore),
  command(declared.config, async () => (await import('./commands/config.js')).printConfig),
  command(declared.advise, async () => (await import('./commands/advise.js')).printAdvice),
  command(declared.explain, async () => (await import('./commands/explain.js')).explainLosses),
  command(declared.completion, async () => (await import('./commands/completion.js')).printCompletion),
]

/** The interfaces of all commands. */
export const declarations = commands.map(({ declaration }) => declaration)
