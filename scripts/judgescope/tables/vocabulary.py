"""Words in headers and cells by which a table's columns are read, in 14 languages.

A line of the table is a class, a language, how strong the evidence is, and the words.
"""

from typing import Final

TABLE: Final = """\
person en strong: human humans person people rater annotator annotation expert worker
person en strong: crowd turker reviewer coder labeler labeller assessor participant sme
person en strong: manual gold golden supervisor specialist physician linguist
person en weak: true user label customer client patient student teacher da esa
person en weak: expected
person en strong: mqm hter instructor marker examiner lecturer professor adjudicator
person en strong: moderator clinician nurse lawyer volunteer proofreader panelist juror
person en strong: interviewer analyst mos reader
person de strong: mensch menschlich menschen experte gutachter annotator bewerter prüfer
person de strong: fachkraft lehrkraft lehrer lehrerin dozent dozentin korrektor
person fr strong: humain humaine expert annotateur évaluateur correcteur
person es strong: humano humana experto anotador evaluador revisor
person zh strong: 人工 人类 专家 标注 评审员 评分员 标注员 评委
person ja strong: 人間 人手 評価者 専門家 アノテータ
person ru strong: человек люди эксперт аннотатор разметчик оценщик ручная
machine en strong: judge llm ai metric auto automatic autorater pred predicted
machine en strong: prediction model_verdict yhat machine autograder autoeval
machine en strong: autoscorer autojudge copilot automated autoscore
machine en strong: autograde autorating autograder erater
machine en weak: eval evaluator grader feedback suggestion bot chatbot scorer
machine en weak: actual
machine de strong: ki maschine maschinell automatisch richter modell sprachmodell
machine fr strong: ia machine automatique juge modèle
machine es strong: ia máquina automático juez modelo
machine zh strong: 机器 自动 裁判 大模型 模型
machine ja strong: 機械 自動 判定器 モデル
machine ru strong: машина автоматическая ии судья судьи модель модели нейросеть
machine ru strong: нейросети
rating en strong: score scores rating ratings label labels verdict grade judgment
rating en strong: judgement rated
rating de strong: bewertung note punkte punktzahl urteil einstufung
rating fr strong: note évaluation
rating es strong: evaluación puntuación nota calificación valoración
rating zh strong: 评分 得分 分数 打分 等级
rating ja strong: 評価 点数 スコア 採点
rating ru strong: оценка балл баллы рейтинг
outcome en strong: verdict outcome decision result success pass passed correct
outcome en strong: correctness status
outcome de strong: ergebnis entscheidung
outcome fr strong: résultat décision verdict
outcome es strong: resultado decisión veredicto
outcome zh strong: 结果 结论
outcome ja strong: 結果 判断
outcome ru strong: результат решение вердикт
text en strong: summary output response reply answer generated completion hypothesis hyp
text en strong: translation mt candidate story essay claim comment
text de strong: antwort zusammenfassung text ausgabe übersetzung
text fr strong: réponse résumé texte sortie traduction
text es strong: respuesta resumen texto salida traducción
text zh strong: 回答 答复 答案 回复 摘要 译文 翻译 输出 文本
text ja strong: 回答 返答 応答 要約 訳文 出力 テキスト
text ru strong: ответ резюме перевод текст
source en strong: source src article document doc input prompt question query dialogue
source en strong: context ctx passage instruction ticket evidence request
source de strong: frage artikel quelle eingabe dokument quelltext originaltext
source de strong: ausgangstext aufgabe
source fr strong: question article source entrée document consigne
source es strong: pregunta artículo fuente entrada documento
source zh strong: 问题 提问 文章 原文 输入 题目 指令 提示 请求
source ja strong: 質問 記事 原文 入力 設問
source ru strong: вопрос запрос статья источник документ
reference en strong: reference references ref gold highlights expected target
reference en strong: ground_truth
reference de strong: referenz musterlösung
reference fr strong: référence
reference es strong: referencia
reference zh strong: 参考 参考答案 标准答案
reference ja strong: 参照 正解 模範解答
reference ru strong: эталон
system en strong: system sys model bot writer generator engine
system de strong: system modell
system fr strong: système modèle
system es strong: sistema modelo
system zh strong: 系统 模型
system ja strong: システム モデル
system ru strong: система системы модель модели
number en strong: nr no number index page turn position order rank votes count n len
number en strong: length chars words tokens year date time timestamp created updated
number en strong: seconds ms duration latency cost usd price batch fold epoch age
number en strong: seed difficulty importance temperature std sd var stderr sem iqr
number en strong: minute minutes hour hours attempt attempts retry retries
number en strong: progress threshold ts sec secs mins hr hrs msec millis elapsed days
number de strong: nr nummer seite datum zeit dauer kosten anzahl länge schwierigkeit
number de strong: jahr alter
number fr strong: numéro page date temps durée coût nombre longueur difficulté année âge
number es strong: número página fecha tiempo duración costo cantidad longitud dificultad
number es strong: año edad
number zh strong: 题号 编号 序号 页 日期 时间 费用 数量 长度 难度
number ja strong: 番号 設問番号 ページ 日付 時間 費用 件数 長さ 難易度
number ru strong: номер страница дата время длительность стоимость количество длина
number ru strong: сложность
confidence en strong: confidence probability prob logprob certainty confident
confidence en strong: unsure certain sure
confidence de strong: konfidenz sicherheit wahrscheinlichkeit
confidence fr strong: confiance certitude probabilité
confidence es strong: confianza certeza probabilidad
confidence zh strong: 置信度 概率
confidence ja strong: 確信度 信頼度 確率
confidence ru strong: уверенность вероятность
draw en strong: run draw sample trial seed repeat repetition iteration try attempt
total en strong: total sum average avg mean median std
total de strong: summe gesamt durchschnitt mittelwert
total fr strong: total somme moyenne médiane
total es strong: total suma promedio media
total zh strong: 合计 总计 平均 平均值
total ja strong: 合計 平均
total ru strong: итого всего среднее сумма
total nl strong: totaal gemiddelde
total pl strong: suma razem średnia
total pt strong: soma média total
total it strong: totale media somma
total ko strong: 합계 평균 총계
total tr strong: toplam ortalama
total ar strong: المجموع المتوسط
good en strong: pass passed yes y true t good ok okay correct right accept accepted
good en strong: accurate factual grounded safe up win 👍 ✓ ✔ ✅
bad en strong: fail failed no n false f bad wrong reject rejected hallucinated
bad en strong: hallucination toxic harmful unsafe biased error violation jailbroken down
bad en strong: lose nok 👎 ✗ ✘ ❌
good de strong: gut ja richtig bestanden korrekt
bad de strong: schlecht nein falsch durchgefallen
good fr strong: bon bonne oui vrai correct réussi
bad fr strong: mauvais mauvaise non faux échoué
good es strong: bueno buena sí verdadero correcto aprobado
bad es strong: malo mala no falso suspenso
good zh strong: 好 是 对 通过 正确
bad zh strong: 差 否 错 不通过 错误
good ja strong: 良い はい 正しい 合格
bad ja strong: 悪い いいえ 誤り 不合格
good ru strong: хорошо да верно
good ar strong: صحيح نعم جيد
bad ar strong: خطأ لا سيئ
bad ru strong: плохо нет неверно
fault en strong: toxic toxicity hallucination hallucinated error harmful harm bias
fault en strong: biased violation unsafe jailbreak bad wrong spam refusal
fault en strong: pii leak leaks leakage profanity plagiarism plagiarized offensive hate
fault en strong: slur threat nsfw phishing injection misinformation fabricated
fault en strong: fabrication defect bug mistake typo sexist racist insult
length en strong: words n_words word_count tokens n_tokens token_count chars characters
length en strong: length text_length
length de strong: wörter zeichen länge
length fr strong: mots caractères longueur
length es strong: palabras caracteres longitud
length zh strong: 字数 词数 长度
length ja strong: 文字数 単語数 長さ
length ru strong: слова символы длина
machine en strong: model gpt chatgpt openai claude gemini gemma llama mistral mixtral
machine en strong: qwen deepseek grok palm prometheus sonnet opus haiku phi vicuna
machine en strong: falcon kimi glm o1 o3 o4 trueteacher
measure en strong: bleu rouge meteor chrf bertscore bleurt comet ter moverscore
measure en strong: bartscore bert sacrebleu cider spice nli perplexity geval unieval
measure en strong: summac factcc questeval ragas dae reward qe cometkiwi xcomet metricx
measure en strong: utmos nisqa dnsmos pesq wer cer gemba cosine bm25 reranker retriever
measure en strong: classifier detector
person pt strong: humano humana especialista anotador avaliador revisor
machine pt strong: ia máquina automático juiz modelo
rating pt strong: nota pontuação avaliação classificação
outcome pt strong: resultado decisão veredito
text pt strong: resposta resumo texto saída tradução
source pt strong: pergunta artigo fonte entrada documento
number pt strong: número página data tempo duração custo quantidade comprimento
number pt strong: dificuldade ano idade
confidence pt strong: confiança certeza probabilidade
good pt strong: bom boa sim verdadeiro correto aprovado
bad pt strong: ruim mau não falso incorreto reprovado
person nl strong: mens menselijk menselijke deskundige beoordelaar
machine nl strong: ki machine automatisch taalmodel model
rating nl strong: beoordeling punten oordeel cijfer
text nl strong: antwoord samenvatting tekst uitvoer vertaling
source nl strong: vraag artikel bron invoer document
number nl strong: nummer pagina datum tijd duur kosten aantal lengte
person pl strong: człowiek ludzka ekspert oceniający
machine pl strong: maszyna automatyczna model sędzia
rating pl strong: ocena punkty wynik
text pl strong: odpowiedź streszczenie tekst tłumaczenie
source pl strong: pytanie artykuł źródło dokument
number pl strong: numer strona data czas koszt liczba długość
person ko strong: 사람 인간 전문가 평가자
machine ko strong: 기계 자동 모델 심판
rating ko strong: 평가 점수 평점
text ko strong: 답변 응답 요약 번역 출력
source ko strong: 질문 기사 원문 입력 문서
number ko strong: 번호 페이지 날짜 시간 비용 개수 길이
person it strong: umano umana esperto annotatore valutatore revisore
machine it strong: ia macchina automatico giudice modello
rating it strong: voto punteggio valutazione giudizio
outcome it strong: risultato decisione verdetto
text it strong: risposta riassunto testo uscita traduzione
source it strong: domanda articolo fonte ingresso documento
number it strong: numero pagina data tempo durata costo quantità lunghezza
number it strong: difficoltà anno età
confidence it strong: confidenza certezza probabilità
good it strong: buono buona sì vero corretto approvato
bad it strong: cattivo sbagliato falso errato respinto
person ar strong: بشري بشرية البشري البشرية إنسان الإنسان خبير الخبير مقيم المقيم
machine ar strong: آلي آلية الآلي القاضي الحكم نموذج النموذج
rating ar strong: تقييم درجة الدرجة علامة
text ar strong: إجابة الإجابة جواب الجواب رد الرد ملخص الملخص ترجمة الترجمة
source ar strong: سؤال السؤال مقال المقال مصدر المصدر
number ar strong: رقم الرقم وقت الوقت تاريخ التاريخ مدة المدة تكلفة التكلفة
remark ar strong: تعليق التعليق ملاحظة ملاحظات سبب السبب
remark en strong: rationale reason reasoning reasons explanation explanations comment
remark en strong: comments justification critique remark remarks
remark de strong: begründung kommentar kommentare anmerkung anmerkungen bemerkung
remark de strong: erklärung
remark fr strong: commentaire commentaires justification remarque raison explication
remark es strong: comentario comentarios justificación razón explicación
remark pt strong: comentário comentários justificativa razão explicação
remark it strong: commento commenti motivazione spiegazione
remark nl strong: opmerking opmerkingen toelichting
remark pl strong: komentarz uzasadnienie
remark zh strong: 理由 备注 评语 解释 说明
remark ja strong: 理由 コメント 備考 説明
remark ko strong: 이유 비고 설명 코멘트
remark ru strong: комментарий комментарии обоснование причина пояснение
choice de strong: bevorzugt bevorzugung präferenz gewinner
choice fr strong: préférence préféré choix gagnant
choice es strong: preferencia preferida elección ganador
choice pt strong: preferência preferida escolha vencedor
choice it strong: preferenza preferita scelta vincitore
choice nl strong: voorkeur keuze winnaar
choice zh strong: 偏好 选择 胜者
choice ja strong: 選択 好み 勝者
choice ko strong: 선호 선택 승자
choice ru strong: выбор предпочтение победитель
choice ar strong: تفضيل اختيار الفائز
person tr strong: insan uzman
machine tr strong: yapay makine
rating tr strong: puan puanı değerlendirme
source tr strong: soru kaynak
text tr strong: yanıt cevap özet çeviri
good en strong: met supported relevant helpful faithful consistent coherent fluent
good en strong: complete satisfied satisfactory acceptable adequate appropriate valid
good en strong: verified compliant resolved solved fixed clear clean useful great
good en strong: excellent perfect fine polite honest truthful readable sufficient
good en strong: success successful entailed usable agree agreed okay harmless
merit en strong: correctness helpfulness relevance relevancy accuracy coherence
merit en strong: fluency faithfulness consistency completeness quality clarity
merit en strong: conciseness groundedness factuality truthfulness honesty politeness
merit en strong: safety readability adequacy naturalness usefulness
bad en strong: failure poor terrible awful useless horrible insufficient contradicted
bad en strong: refuted
good de strong: wahr zutreffend akzeptabel hilfreich vollständig erfüllt relevant
bad de strong: mangelhaft ungenügend unwahr
good fr strong: vraie acceptable valide pertinent utile correcte réussie
bad fr strong: fausse insuffisant
good es strong: correcta verdadera aprobada aceptable válido útil relevante
bad es strong: falsa suspensa insuficiente
good pt strong: correta verdadeira aprovada aceitável válido útil relevante
bad pt strong: falsa reprovada insuficiente errado errada
good it strong: corretta approvata accettabile valido utile pertinente
bad it strong: falsa respinta errata scorretto scorretta insufficiente sbagliata
good nl strong: goed juist ja waar correct voldoende
bad nl strong: slecht fout nee onwaar onvoldoende onjuist
good pl strong: dobrze dobry poprawny poprawna tak prawda
bad pl strong: źle zły błędny błędna nie fałsz
good tr strong: iyi doğru evet
bad tr strong: kötü yanlış hayır
good zh strong: 满意 合理 准确 合格 优秀 符合 恰当
bad zh strong: 不合格 较差 失败 不对
good ja strong: 正解 適切 妥当 正確
bad ja strong: 不正解 間違い 不適切 正しくない 良くない
good ko strong: 맞음 정답 좋음 예 네 통과 적절 적절함 정확 정확함 합격 참
bad ko strong: 틀림 오답 나쁨 아니오 아니요 불합격 실패 부적절 부적절함 부정확 거짓
good ru strong: правильно правильный верный корректно отлично приемлемо
bad ru strong: неправильно неправильный неверный некорректно ужасно
good ar strong: صحيحة صح مقبول مقبولة ممتاز جيدة
bad ar strong: غلط خاطئ خاطئة سيئة مرفوض ضعيف
fault en strong: issue problem problematic misleading flagged blocked repetitive
fault en strong: repetition redundant redundancy verbose verbosity evasive evasion
fault en strong: inappropriate illegal dangerous harassment vulgar obscene derogatory
fault en strong: sycophantic sycophancy contradiction contradictory outdated truncated
fault en strong: incoherent irrelevant incomplete inconsistent incorrect unsupported
fault en strong: risk risky severity hateful abusive abuse violent violence deceptive
fault en strong: hatefulness harmfulness offensiveness rudeness rude refused
fault en strong: failure untrue concern flaw breach inaccurate inaccuracy unhelpful
fault de strong: fehler fehlerhaft halluzination halluzinationen halluziniert toxisch
fault de strong: toxizität schädlich beleidigend problematisch irreführend verstoß
fault fr strong: erreur erreurs hallucination toxique nuisible biais trompeur
fault fr strong: problème injurieux haineux
fault es strong: error errores alucinación alucinaciones tóxico tóxica toxicidad
fault es strong: dañino dañina sesgo engañoso problema ofensivo
fault pt strong: erro erros alucinação alucinações tóxico tóxica toxicidade nocivo
fault pt strong: viés enganoso ofensivo
fault it strong: errore errori allucinazione allucinazioni tossico tossica tossicità
fault it strong: dannoso fuorviante offensivo
fault nl strong: fout fouten hallucinatie giftig schadelijk misleidend
fault pl strong: błąd błędy halucynacja toksyczny szkodliwy
fault zh strong: 错误 有害 幻觉 毒性 偏见 违规 冒犯 误导
fault ja strong: 誤り 有害 幻覚 ハルシネーション 毒性 エラー 間違い 偏見
fault ko strong: 오류 유해 환각 독성 편향
fault ru strong: ошибка ошибки ошибок токсичность токсичный галлюцинация
fault ru strong: галлюцинации вредный
fault ar strong: أخطاء سام ضار هلوسة
good de strong: stimme zustimmung trifft einverstanden positiv
bad de strong: negativ
good fr strong: accord positif positive
bad fr strong: désaccord négatif négative
good es strong: acuerdo positivo positiva
bad es strong: desacuerdo negativo negativa
good pt strong: concordo positivo
bad pt strong: discordo negativo
good it strong: accordo positivo
bad it strong: disaccordo negativo
good zh strong: 同意 正面 积极
bad zh strong: 反对 负面 消极
good ja strong: 同意する 同意 そう思う ポジティブ 肯定的
bad ja strong: 同意しない そう思わない 反対 ネガティブ 否定的
good ko strong: 동의 긍정 긍정적
bad ko strong: 반대 부정 부정적
good ru strong: положительный положительно согласен согласна
bad ru strong: отрицательный отрицательно
good ar strong: إيجابي موافق
bad ar strong: سلبي
good pl strong: zgadzam zgoda
good tr strong: katılıyorum olumlu
bad tr strong: katılmıyorum olumsuz
fault en strong: hallucinate hallucinates hallucinating violate violates violated
fault en strong: refuse refuses mislead misleads leaked attack attacks jailbroken
fault en strong: contradict contradicts offend missing duplicate
good en strong: approve approved allow allowed
bad en strong: block remove removed
good it strong: ottimo
bad it strong: scarso pessimo
good pt strong: ótimo
bad pt strong: péssimo
"""
