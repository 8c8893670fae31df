import type { RecipeMutant } from '../support/mutants.js'

export const mutants: readonly RecipeMutant[] = [
  {
    name: 'a new holder does not look at the last tick',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: 'found.tick !== undefined && found.tick >= due',
        replace: 'found.tick === Infinity',
      },
    ],
    caughtBy: { law: 'an instance that is granted the name after the tick was run does not run it again' },
  },
  {
    name: 'the work starts before its tick is recorded',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: 'await this.#record(held, { ...marks, run, last: endedRun(found.run) })',
        replace: 'void this.#record(held, { ...marks, run, last: endedRun(found.run) }).catch(() => {})',
      },
    ],
    caughtBy: { law: 'a tick that its holder could not record is run by another instance' },
  },
  {
    name: 'a tick that was interrupted is run again',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: 'found.tick >= due',
        replace: "found.tick >= due && found.run?.outcome !== 'running'",
      },
      {
        file: 'schedule/schedule.ts',
        find: 'tick === undefined ? isCatchUp : tick >= due',
        replace: "tick === undefined ? isCatchUp : tick >= due && (run?.outcome !== 'running' || isLocked(record))",
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a tick that is not the last one is run',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: 'found.tick >= due',
        replace: 'found.tick === due',
      },
      { file: 'schedule/schedule.ts', find: 'isCatchUp : tick >= due', replace: 'isCatchUp : tick === due' },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'ticks that a work overruns are run late by another instance',
    edits: [{ file: 'schedule/tick-runner.ts', find: 'if (isOverrun &&', replace: 'if (false &&' }],
    caughtBy: { law: 'ticks that a work overruns are skipped, and do not pile up' },
  },
  {
    name: 'a missed tick is run late though it is to be skipped',
    edits: [
      {
        file: 'schedule/schedule.ts',
        find: 'isSkipping ? undefined : this.#table.latest(after)',
        replace: 'this.#table.latest(after)',
      },
    ],
    caughtBy: { law: 'after a time without instances, missed ticks are skipped' },
  },
  {
    name: 'a refused instance does not wait until the tick is recorded',
    edits: [
      {
        file: 'schedule/schedule.ts',
        find: "fate === 'ran' || fate === 'decided'",
        replace: "fate === 'ran' || fate === 'refused' || fate === 'decided'",
      },
    ],
    caughtBy: { law: 'a tick that its holder could not record is run by another instance' },
  },
  {
    name: 'a work is not aborted after atMostFor',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: 'clock.schedule(atMostFor, ',
        replace: 'clock.schedule(Number.POSITIVE_INFINITY, ',
      },
    ],
    caughtBy: { law: 'a work that takes longer than atMostFor is aborted, and the next tick is run' },
  },
  {
    name: 'a pause is not looked for once the lease is held',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: "if (!(await isWanted(job))) return 'withheld'",
        replace: 'void isWanted',
      },
    ],
    caughtBy: { law: 'a tick does not start after a pause that was written while its holder acquired the lease' },
  },
  {
    name: 'ticks of a pause are made up for',
    edits: [
      {
        file: 'schedule/control-record.ts',
        find: 'due >= firstAdmitted({ paused, resumedAt })',
        replace: 'due >= firstAdmitted({ paused })',
      },
    ],
    caughtBy: { law: 'during a pause no instance runs a tick, and none of these ticks is run after it' },
  },
  {
    name: 'a run by hand ends the pause',
    edits: [
      {
        file: 'schedule/schedule-control.ts',
        find: '{ ...state, requests: [...requests, ',
        replace: '{ ...state, paused: undefined, requests: [...requests, ',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a run by hand that was interrupted is run again',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: 'return !isLater(request.id, found.request)',
        replace: "return !isLater(request.id, found.request) && found.run?.outcome !== 'running'",
      },
      { file: 'schedule/schedule.ts', find: 'if (run.byHand !== undefined) this.#wishes.tidy()', replace: '' },
    ],
    caughtBy: { law: 'a run by hand whose holder dies in the middle is interrupted, and not run again' },
  },
  {
    name: 'a tick forgets the last run by hand',
    edits: [
      {
        file: 'schedule/tick-runner.ts',
        find: '{ tick: due, request: lastRequest }',
        replace: '{ tick: due }',
      },
      { file: 'schedule/schedule.ts', find: 'if (run.byHand !== undefined) this.#wishes.tidy()', replace: '' },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a skipped tick is run',
    edits: [{ file: 'schedule/control-record.ts', find: ' && !skipped.includes(due)', replace: '' }],
    caughtBy: { law: 'a tick that is skipped is run by no instance, and the others are run' },
  },
]
