/** The page's one live region: news for screen readers, at most every ten seconds, the newest only. */
const PAUSE_MS = 10_000;

export class Announcer {
    text = $state('');
    private next: string | undefined;
    private timer: ReturnType<typeof setTimeout> | undefined;

    say(text: string): void {
        this.next = text;
        if (this.timer === undefined) this.speak();
    }

    private speak(): void {
        this.timer = undefined;
        if (this.next === undefined) return;
        this.text = this.next;
        this.next = undefined;
        this.timer = setTimeout(() => this.speak(), PAUSE_MS);
    }
}
