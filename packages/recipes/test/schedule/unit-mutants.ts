import type { UnitMutant } from '@leasehold/testing'

const failures = 'test/schedule/failures.test.ts'
const schedule = 'test/schedule/schedule.test.ts'
const timetable = 'test/schedule/timetable.test.ts'

/** One-line changes that break a rule of schedules, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'schedule: only the very same tick counts as run',
    file: 'src/schedule/tick-runner.ts',
    find: 'if (found.tick !== undefined && found.tick >= due)',
    replace: 'if (found.tick !== undefined && found.tick === due)',
    test: failures,
    name: 'is not run after a later one that was recorded since the last look',
  },
  {
    title: 'schedule: a tick is overrun also where the run before died',
    file: 'src/schedule/tick-runner.ts',
    find: "if (isOverrun && found.run?.outcome !== 'running') {",
    replace: 'if (isOverrun) {',
    test: failures,
    name: 'is run by another instance when the lease of the dead one has expired',
  },
  {
    title: 'schedule: stop() does not interrupt the hold for atLeastFor',
    file: 'src/schedule/tick-runner.ts',
    find: 'if (this.#around.room > 0) this.#leaving.abort()',
    replace: '',
    test: schedule,
    name: 'frees the name at once after stop',
  },
  {
    title: 'schedule: ticks have fractions of a millisecond',
    file: 'src/schedule/timetable.ts',
    find: 'Math.round(from + place * every)',
    replace: 'from + place * every',
    test: timetable,
    name: 'of 333.3 ms has whole ticks',
  },
  {
    title: 'schedule: the place of a tick is not corrected for its rounding',
    file: 'src/schedule/timetable.ts',
    find: 'if (tickOf(place + 1) <= at) return place + 1',
    replace: '',
    test: timetable,
    name: 'of 333.3 ms has whole ticks',
  },
  {
    title: 'schedule: an anchor may have the time zone of the machine',
    file: 'src/schedule/timetable.ts',
    find: "(typeof anchor === 'string' && ISO_INSTANT.test(anchor))",
    replace: "typeof anchor === 'string'",
    test: timetable,
    name: 'rejects {"every":5,"anchor":"2026-01-31T12:00"}',
  },
  {
    title: 'schedule: a random() that throws ends the schedule',
    file: 'src/schedule/schedule.ts',
    find: "guardRandom(random, (error) => this.report(error, 'random() failed'))",
    replace: 'random',
    test: failures,
    name: 'goes on where random() throws',
  },
  {
    title: 'schedule: a wall clock without a later tick ends the schedule',
    file: 'src/schedule/schedule.ts',
    find: 'await this.#pause(LONGEST_SLEEP)',
    replace: 'this.stopping.abort()',
    test: failures,
    name: 'goes on after a wall clock without a later tick was set right',
  },
  {
    title: 'schedule: a plan that the deployment before has left is reported',
    file: 'src/schedule/schedule.ts',
    find: 'tick === this.#firstTick || ',
    replace: '',
    test: failures,
    name: 'one after the other report nothing',
  },
  {
    title: 'schedule: each record of another plan is reported',
    file: 'src/schedule/schedule.ts',
    find: 'this.#hasReportedPlan = true',
    replace: '',
    test: failures,
    name: 'with different plans report that once',
  },
  {
    title: 'schedule: atLeastFor may be longer than atMostFor',
    file: 'src/schedule/schedule-options.ts',
    find: 'if (atMostFor !== undefined && atLeastFor > atMostFor) {',
    replace: 'if (atLeastFor < 0) {',
    test: schedule,
    name: 'rejects atLeastFor over atMostFor',
  },
]
