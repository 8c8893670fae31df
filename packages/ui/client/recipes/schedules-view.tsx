import type { ScheduleRequest, ScheduleView } from '../../src/protocol.js'
import { DialogButton } from '../shell/dialog-button.js'
import { Field } from '../shell/field.js'
import { Instant } from '../shell/instant.js'
import { usePageOn } from '../shell/page-context.js'
import { useAction } from '../shell/use-action.js'
import { Card, CardsView } from './cards.js'
import { PauseForm } from './pause-form.js'
import { planText } from './plan-text.js'
import { Runs } from './runs.js'

export function SchedulesView() {
  const { state } = usePageOn('recipes', 'status')
  const { schedules } = state.recipes
  return (
    <CardsView id="schedules" title="Schedules" count={schedules.length} none="There is no schedule in this store.">
      {schedules.map((schedule) => (
        <ScheduleCard key={schedule.name} schedule={schedule} mayChange={state.hello?.access === 'write'} />
      ))}
    </CardsView>
  )
}

function ScheduleCard({ schedule, mayChange }: { readonly schedule: ScheduleView; readonly mayChange: boolean }) {
  const { formats } = usePageOn()
  const { name, plan, next, running, runs, skipped, requested } = schedule
  return (
    <Card name={name} note={plan !== undefined && <code title={plan}>{planText(plan, formats)}</code>}>
      {schedule.paused !== undefined && <Pause paused={schedule.paused} />}
      <dl class="fields">
        <Field name="Next">
          {next !== undefined && <Instant at={next} />}
          {next === undefined && (schedule.paused === undefined ? 'not known' : 'none while it is paused')}
        </Field>
        <Field name="Running">
          {running === undefined ? (
            'no'
          ) : (
            <>
              since <Instant at={running.startedAt} /> on <span class="mono breaks">{running.owner}</span>
              {running.byHand !== undefined && <>, asked for by {running.byHand}</>}
            </>
          )}
        </Field>
        {skipped.length > 0 && (
          <Field name="Skipped">
            {skipped.map((tick) => (
              <div key={tick}>
                <Instant at={tick} />
              </div>
            ))}
          </Field>
        )}
        {requested.length > 0 && (
          <Field name="Asked for">
            {requested.map(({ by, at }) => (
              <div key={`${at} ${by}`}>
                a run now, by {by}, at <Instant at={at} />
              </div>
            ))}
          </Field>
        )}
      </dl>
      <Runs runs={runs} />
      {mayChange && <Actions schedule={schedule} />}
    </Card>
  )
}

function Pause({ paused }: { readonly paused: NonNullable<ScheduleView['paused']> }) {
  return (
    <p class="paused breaks">
      <strong>Paused</strong> by {paused.by} at <Instant at={paused.at} isRelative={false} />
      {paused.until !== undefined && (
        <>
          {' '}
          until <Instant at={paused.until} isRelative={false} />
        </>
      )}
      {': '}
      <span>{paused.reason}</span>
    </p>
  )
}

function Actions({ schedule }: { readonly schedule: ScheduleView }) {
  const { api } = usePageOn()
  const action = useAction()
  const { name, paused, next } = schedule
  const ask = (request: ScheduleRequest) => () => void action.run(() => api.schedule(request))
  return (
    <>
      {action.error !== undefined && (
        <p role="alert" class="refused">
          {action.error.message}
        </p>
      )}
      <div class="actions">
        <DialogButton text="Pause …" kind="button" isOffered={paused === undefined} title={`Pause ${name}`}>
          {(close) => <PauseForm name={name} close={close} />}
        </DialogButton>
        {paused !== undefined && (
          <button type="button" class="button" disabled={action.isBusy} onClick={ask({ name, action: 'resume' })}>
            Resume
          </button>
        )}
        {next !== undefined && paused === undefined && (
          <button
            type="button"
            class="button"
            disabled={action.isBusy}
            onClick={ask({ name, action: 'skip', tick: next })}
          >
            Skip the next
          </button>
        )}
        <button type="button" class="button" disabled={action.isBusy} onClick={ask({ name, action: 'run-now' })}>
          Run now
        </button>
      </div>
    </>
  )
}
