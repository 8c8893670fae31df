import { fieldTexts } from '../shell/field-texts.js'
import { usePage } from '../shell/page-context.js'
import { useAction } from '../shell/use-action.js'

/** Asks why a schedule pauses, and until when. */
export function PauseForm({ name, close }: { readonly name: string; readonly close: () => void }) {
  const { api } = usePage()
  const action = useAction()
  const submit = async (text: (name: string) => string) => {
    const until = text('until')
    const end = until === '' ? {} : { until: new Date(until).getTime() }
    const isPaused = await action.run(() => api.schedule({ name, action: 'pause', reason: text('reason'), ...end }))
    if (isPaused) close()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit(fieldTexts(event.currentTarget))
      }}
    >
      <p>
        No run of <code>{name}</code> starts while it is paused. A run that goes on now ends as usual.
      </p>
      {action.error !== undefined && (
        <p role="alert" class="refused">
          {action.error.message}
        </p>
      )}
      <div class="field">
        <label for="pause-reason">Reason</label>
        <input id="pause-reason" type="text" maxLength={500} required autocomplete="off" name="reason" />
      </div>
      <div class="field">
        <label for="pause-until">End (optional)</label>
        <input id="pause-until" type="datetime-local" aria-describedby="pause-until-help" name="until" />
        <p id="pause-until-help" class="hint">
          Without an end, it pauses until somebody resumes it.
        </p>
      </div>
      <div class="actions">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={action.isBusy}>
          Pause
        </button>
      </div>
    </form>
  )
}
